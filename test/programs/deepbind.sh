#!/bin/sh
# test: timeout=120 label=programs
# packages: python3 libxml2 nodejs
# Programs that let their users open modules with RTLD_DEEPBIND: Python's ctypes and Node.js.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
need python3 python3
need node nodejs
ldconfig -p | grep -q 'libxml2\.so\.2 ' || { echo "skipped: no libxml2 here"; exit 77; }

# A library that hands out blocks for its caller to free.
cat >"$work/work.py" <<'END'
import ctypes, os
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.realloc.restype = ctypes.c_void_p
xml = ctypes.CDLL('libxml2.so.2', mode=os.RTLD_NOW | os.RTLD_DEEPBIND)
xml.xmlStrdup.restype = ctypes.c_void_p
total = 0
for i in range(20000):
    p = xml.xmlStrdup(b'text' * (i % 50))
    p = libc.realloc(p, 1000 + i % 100)
    total += len(ctypes.string_at(p))
    libc.free(p)
print(total)
END

# An addon that frees what the C library allocated for it.
cat >"$work/addon.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void* napi_register_module_v1(void* env, void* exports) {
  size_t total = 0;
  for (int i = 0; i < 20000; i++) {
    char* text = NULL;
    char* copy = strdup("text");
    if (copy == NULL || asprintf(&text, "%*d", i % 1000 + 1, i) < 0) { abort(); }
    total += strlen(copy) + strlen(text);
    free(copy);
    free(text);
  }
  printf("%zu\n", total);
  fflush(stdout);
  (void)env;
  return exports;
}
END
${CC:-cc} -O1 -fno-builtin -fPIC -shared "$work/addon.c" -o "$work/addon.node" || fail "no addon"
cat >"$work/work.js" <<'END'
const flags = require('os').constants.dlopen;
process.dlopen({ exports: {} }, process.argv[2], flags.RTLD_NOW | flags.RTLD_DEEPBIND);
END

work_python() { python3 "$work/work.py"; }
work_node() { node "$work/work.js" "$work/addon.node"; }

both work_python
both work_node
