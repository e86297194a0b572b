/* What an object for Android wants of its C library and musl has not, so that the object runs on
   Linux; and, beside the library's malloc, one of the C library's own. */
#include "bionic.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "own_malloc.h"

extern int* __errno_location(void);
int* __errno(void);
int* __errno(void) { return __errno_location(); }

const char* getprogname(void) { return "program"; }

/* Emulated thread-local variables: nothing that a C program calls may come here. */
void* __emutls_get_address(void* variable);
void* __emutls_get_address(void* variable) {
  (void)variable;
  abort();
}

own_calls_t own_calls;

static void own_free(void* p) { own_calls.freed = p; }

static void* own_realloc(void* p, size_t size) {
  own_calls.resized = p;
  own_calls.size = size;
  return NULL;
}

static int own_mallopt(int parameter, int value) {
  own_calls.parameter = parameter;
  own_calls.value = value;
  return 1;
}

void* dlopen(const char* name, int mode) {
  return strcmp(name, "libc.so") == 0 && (mode & RTLD_NOLOAD) != 0 ? &own_calls : NULL;
}

void* dlsym(void* restrict library, const char* restrict name) {
  void* found = NULL;
  if (library != &own_calls) { return NULL; }
  if (strcmp(name, "free") == 0) { found = (void*)own_free; }
  if (strcmp(name, "realloc") == 0) { found = (void*)own_realloc; }
  if (strcmp(name, "mallopt") == 0) { found = (void*)own_mallopt; }
  return found;
}
