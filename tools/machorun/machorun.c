/* Runs a program that was built for macOS, on Linux: segments, rebasing, binding by two-level
   names, __interpose, initializers.

     machorun PROGRAM ARGUMENTS…

   DYLD_INSERT_LIBRARIES names libraries, with colons between, that come first. A library is found
   by its install name: its last part, beside the program. libSystem is libsystem.c, over glibc.
   MACHORUN_VERBOSE=1 tells what was interposed.

   It knows what zig's linker makes: one architecture, LC_DYLD_INFO. */
#define _GNU_SOURCE
#include "machorun.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
enum { CPU = 0x01000007 };
#else
enum { CPU = 0x0100000c };
#endif
enum { MAGIC = (int)0xfeedfacf, PROGRAM = 2, LIBRARY = 6 };
enum {
  LC_SYMTAB = 2,
  LC_LOAD_DYLIB = 0xc,
  LC_ID_DYLIB = 0xd,
  LC_SEGMENT = 0x19,
  LC_DYLD_INFO = 0x22,
  LC_MAIN = 0x28
};
enum { MODULES = 16, SEGMENTS = 16, NEEDED = 16, TUPLES = 512 };

typedef struct header {
  uint32_t magic, cpu, subtype, type, count, bytes, flags, reserved;
} header_t;
typedef struct command {
  uint32_t kind, bytes, words[12];
} command_t;
typedef struct segment {
  uint32_t kind, bytes;
  char name[16];
  uint64_t at, length, offset, in_file;
  uint32_t most, first, sections, flags;
} segment_t;
typedef struct section {
  char name[16], segment[16];
  uint64_t at, bytes;
  uint32_t offset, align, relocations, relocation_count, flags, reserved[3];
} section_t;
typedef struct symbol {
  uint32_t name;
  uint8_t type, section;
  uint16_t description;
  uint64_t at;
} symbol_t;
typedef struct tuple {
  void *by, *name;
} tuple_t;

typedef struct module {
  const char *path, *install_name;
  uint8_t *file, *start;
  size_t bytes;
  int opened; /* times */
  bool stays;
  intptr_t slide;
  const segment_t* segments[SEGMENTS];
  int segment_count;
  const command_t *info, *symbols, *entry;
  const char* needed[NEEDED];
  int needed_count;
  uint64_t text;
  uint64_t descriptors, descriptor_count, variables, variables_end;
} module_t;

static module_t modules[MODULES];
static int module_count;
static struct {
  tuple_t tuple;
  const module_t* from;
} tuples[TUPLES];
static int tuple_count;
static char folder[4096];

_Noreturn void die(const char* what, const char* name) {
  fprintf(stderr, "machorun: %s %s\n", what, name);
  _exit(99);
}

/* ---- names ---- */

void* interposed(void* function, const void* module) {
  for (int i = tuple_count - 1; function != NULL && i >= 0; i--) {
    if (tuples[i].tuple.name == function && tuples[i].from != module) { return tuples[i].tuple.by; }
  }
  return function;
}

static const header_t* header_of(const module_t* m) { return (const header_t*)m->file; }

static void* exported(const module_t* m, const char* name) {
  const symbol_t* symbol = (const symbol_t*)(m->file + m->symbols->words[0]);
  const char* texts = (const char*)m->file + m->symbols->words[2];
  for (uint32_t i = 0; i < m->symbols->words[1]; i++, symbol++) {
    const bool is_shown = (symbol->type & 0xe0) == 0 && (symbol->type & 0x1f) == 0x0f;
    if (is_shown && strcmp(texts + symbol->name, name) == 0) {
      return (void*)(symbol->at + (uint64_t)m->slide);
    }
  }
  return NULL;
}

static const char* last_part(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static bool is_system(const char* path) { return strncmp(path, "/usr/lib/", 9) == 0; }

static module_t* module_named(const char* path) {
  for (int i = 0; i < module_count; i++) {
    const char* name = modules[i].install_name;
    if (name != NULL && strcmp(last_part(name), last_part(path)) == 0) { return &modules[i]; }
  }
  return NULL;
}

static void* find_anywhere(const char* name) {
  void* found = NULL;
  for (int i = 0; found == NULL && i < module_count; i++) { found = exported(&modules[i], name); }
  return found != NULL ? found : system_symbol(name);
}

void* find_symbol(const char* name) {
  char text[256];
  snprintf(text, sizeof(text), "_%s", name);
  return find_anywhere(text);
}

/* By the library that the module says the name is in. */
static void* find_in(const module_t* m, int library, const char* name) {
  if (library == 0) { return exported(m, name); }
  if (library < 0 || library > m->needed_count) { return find_anywhere(name); }
  const char* path = m->needed[library - 1];
  return is_system(path) ? system_symbol(name) : exported(module_named(path), name);
}

/* ---- rebasing and binding: small programs in the file ---- */

static uint64_t uleb(const uint8_t** at) {
  uint64_t value = 0;
  int shift = 0;
  do {
    value |= (uint64_t)(**at & 0x7f) << shift;
    shift += 7;
  } while ((*(*at)++ & 0x80) != 0);
  return value;
}

static int64_t sleb(const uint8_t** at) {
  const uint8_t* start = *at;
  const uint64_t value = uleb(at);
  const int bits = (int)(*at - start) * 7;
  const bool negative = ((*at)[-1] & 0x40) != 0 && bits < 64;
  return (int64_t)(negative ? value | ~UINT64_C(0) << bits : value);
}

static uint64_t place_in(const module_t* m, int segment, uint64_t offset) {
  return m->segments[segment]->at + (uint64_t)m->slide + offset;
}

static uint64_t rebase_at(const module_t* m, uint64_t at, uint64_t count, uint64_t skip) {
  for (; count > 0; count--, at += 8 + skip) { *(uint64_t*)at += (uint64_t)m->slide; }
  return at;
}

static void rebase(const module_t* m) {
  const uint8_t *op = m->file + m->info->words[0], *end = op + m->info->words[1];
  uint64_t at = 0;
  while (op < end) {
    const int code = *op & 0xf0, low = *op & 15;
    uint64_t count = 1, skip = 0;
    op++;
    switch (code) {
      case 0x00: return;
      case 0x10: break; /* pointers are all there is */
      case 0x20: at = place_in(m, low, uleb(&op)); break;
      case 0x30: at += uleb(&op); break;
      case 0x40: at += (uint64_t)low * 8; break;
      case 0x50: at = rebase_at(m, at, (uint64_t)low, 0); break;
      case 0x60: at = rebase_at(m, at, uleb(&op), 0); break;
      case 0x70: at = rebase_at(m, at, 1, uleb(&op)); break;
      case 0x80:
        count = uleb(&op);
        skip = uleb(&op);
        at = rebase_at(m, at, count, skip);
        break;
      default: die("cannot rebase", m->path);
    }
  }
}

typedef struct binding {
  const char* name;
  int library;
  bool weak;
  int64_t addend;
} binding_t;

static uint64_t bind_at(const module_t* m, const binding_t* binding, uint64_t at) {
  void* found = find_in(m, binding->library, binding->name);
  if (found == NULL && !binding->weak) { die("there is no", binding->name); }
  *(uint64_t*)at = (uint64_t)interposed(found, m) + (uint64_t)binding->addend;
  return at + 8;
}

/* One of three lists; the second has names that any module may define: the first one's is taken. */
static void bind(const module_t* m, int list) {
  const uint8_t* op = m->file + m->info->words[2 + 2 * list];
  const uint8_t* end = op + m->info->words[3 + 2 * list];
  binding_t binding = {.library = list == 1 ? -2 : 0};
  uint64_t at = 0, count = 0, skip = 0;
  while (op < end) {
    const int code = *op & 0xf0, low = *op & 15;
    op++;
    switch (code) {
      case 0x00: break; /* the lazy ones have it behind each */
      case 0x10: binding.library = low; break;
      case 0x20: binding.library = (int)uleb(&op); break;
      case 0x30: binding.library = low == 0 ? 0 : low - 16; break;
      case 0x40:
        binding.weak = (low & 1) != 0;
        binding.name = (const char*)op;
        op += strlen(binding.name) + 1;
        break;
      case 0x50: break;
      case 0x60: binding.addend = sleb(&op); break;
      case 0x70: at = place_in(m, low, uleb(&op)); break;
      case 0x80: at += uleb(&op); break;
      case 0x90: at = bind_at(m, &binding, at); break;
      case 0xa0: at = bind_at(m, &binding, at) + uleb(&op); break;
      case 0xb0: at = bind_at(m, &binding, at) + (uint64_t)low * 8; break;
      case 0xc0:
        count = uleb(&op);
        skip = uleb(&op);
        while (count-- > 0) { at = bind_at(m, &binding, at) + skip; }
        break;
      default: die("cannot bind", m->path);
    }
  }
}

/* ---- modules ---- */

typedef void section_fun(module_t* m, const section_t* section);

static void for_each_section(module_t* m, section_fun* fun) {
  for (int i = 0; i < m->segment_count; i++) {
    const section_t* section = (const section_t*)(m->segments[i] + 1);
    for (uint32_t k = 0; k < m->segments[i]->sections; k++, section++) { fun(m, section); }
  }
}

static void take_tuples(module_t* m, const section_t* section) {
  const tuple_t* tuple = (const tuple_t*)(section->at + (uint64_t)m->slide);
  if (strncmp(section->name, "__interpose", 11) != 0) { return; }
  for (size_t i = 0; i < section->bytes / sizeof(tuple_t); i++, tuple++) {
    if (tuple->name == NULL) { continue; } /* the system has no such function */
    if (tuple_count == TUPLES) { die("too many names interposed by", m->path); }
    tuples[tuple_count].tuple = *tuple;
    tuples[tuple_count++].from = m;
    if (getenv("MACHORUN_VERBOSE") != NULL) {
      fprintf(stderr, "machorun: interposed %p\n", tuple->name);
    }
  }
}

static void take_variables(module_t* m, const section_t* section) {
  enum { DATA = 0x11, ZEROS = 0x12, DESCRIPTORS = 0x13, DESCRIPTOR_BYTES = 24 };
  const uint32_t type = section->flags & 0xff;
  const uint64_t start = section->at + (uint64_t)m->slide;
  if (type == DATA || type == ZEROS) {
    m->variables = m->variables == 0 || start < m->variables ? start : m->variables;
    m->variables_end = start + section->bytes;
  } else if (type == DESCRIPTORS) {
    m->descriptors = start;
    m->descriptor_count = section->bytes / DESCRIPTOR_BYTES;
  }
}

/* With MACHORUN_CXX=1 the C++ runtime is that of Linux. Its unwinder is told of the tables of
   frames; it does not know the compact ones. */
static void take_frames(module_t* m, const section_t* section) {
  void (*take)(void* frames) = NULL;
  void* const found = dlsym(RTLD_DEFAULT, "__register_frame");
  if (strcmp(section->name, "__eh_frame") != 0) { return; }
  if (found == NULL) { die("there is no unwinder for", m->path); }
  memcpy(&take, &found, sizeof(take));
  take((void*)(section->at + (uint64_t)m->slide));
}

static void take_cxx(void) {
  if (dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL) == NULL) { die("cannot load", "libstdc++"); }
  for (int i = 0; i < module_count; i++) { for_each_section(&modules[i], take_frames); }
}

typedef int main_fun(int argc, char** argv, char** environment, char** apple);
static int main_argc;
static char** main_argv;

static void initialize(module_t* m, const section_t* section) {
  enum { INITIALIZERS = 9 };
  static char* apple[] = {NULL};
  if ((section->flags & 0xff) != INITIALIZERS) { return; }
  main_fun** const functions = (main_fun**)(section->at + (uint64_t)m->slide);
  for (size_t i = 0; i < section->bytes / 8; i++) {
    (void)functions[i](main_argc, main_argv, environ, apple);
  }
}

/* Where the thread's table is a register of its own on macOS; here it is the thread pointer. */
static void patch_code(module_t* m, const section_t* section) {
#ifdef __aarch64__
  enum { READ_TPIDRRO = (int)0xd53bd060, READ_TPIDR = (int)0xd53bd040 };
  uint32_t* code = (uint32_t*)(section->at + (uint64_t)m->slide);
  if (strcmp(section->name, "__text") != 0) { return; }
  for (size_t i = 0; i < section->bytes / 4; i++) {
    if ((code[i] & ~31u) == (uint32_t)READ_TPIDRRO) { code[i] = READ_TPIDR | (code[i] & 31); }
  }
  __builtin___clear_cache((char*)code, (char*)code + section->bytes);
#else
  (void)m, (void)section;
#endif
}

static void read_commands(module_t* m) {
  const command_t* c = (const command_t*)(m->file + sizeof(header_t));
  for (uint32_t i = 0; i < header_of(m)->count; i++) {
    switch (c->kind & 0x7fffffff) {
      case LC_SEGMENT: m->segments[m->segment_count++] = (const segment_t*)c; break;
      case LC_DYLD_INFO: m->info = c; break;
      case LC_SYMTAB: m->symbols = c; break;
      case LC_MAIN: m->entry = c; break;
      case LC_ID_DYLIB: m->install_name = (const char*)c + c->words[0]; break;
      case LC_LOAD_DYLIB:
      case 0x18: m->needed[m->needed_count++] = (const char*)c + c->words[0]; break;
      default: break;
    }
    c = (const command_t*)((const uint8_t*)c + c->bytes);
  }
  if (m->info == NULL || m->symbols == NULL) { die("no LC_DYLD_INFO in", m->path); }
}

static bool is_mapped(const segment_t* s) {
  return s->length != 0 && strcmp(s->name, "__PAGEZERO") != 0;
}

static void map_segments(module_t* m) {
  uint64_t low = UINT64_MAX, high = 0;
  for (int i = 0; i < m->segment_count; i++) {
    const segment_t* s = m->segments[i];
    if (!is_mapped(s)) { continue; }
    low = s->at < low ? s->at : low;
    high = s->at + s->length > high ? s->at + s->length : high;
    if (strcmp(s->name, "__TEXT") == 0) { m->text = s->at; }
  }
  enum { ALIGN = 1 << 16 };
  uint8_t* base = mmap(NULL, high - low + ALIGN, PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) { die("cannot map", m->path); }
  base = (uint8_t*)(((uintptr_t)base + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
  m->start = base;
  m->bytes = high - low;
  m->slide = (intptr_t)base - (intptr_t)low;
  for (int i = 0; i < m->segment_count; i++) {
    const segment_t* s = m->segments[i];
    if (is_mapped(s)) {
      memcpy((void*)(s->at + (uint64_t)m->slide), m->file + s->offset, s->in_file);
    }
  }
}

static module_t* load(const char* path) {
  if (module_count == MODULES) { die("too many modules before", path); }
  module_t* m = &modules[module_count++];
  const int file = open(path, O_RDONLY);
  if (file < 0) { die("cannot open", path); }
  m->path = path;
  m->stays = true;
  m->file = mmap(NULL, (size_t)lseek(file, 0, SEEK_END), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (header_of(m)->magic != (uint32_t)MAGIC || header_of(m)->cpu != CPU) {
    die("not a program or library of this processor:", path);
  }
  read_commands(m);
  map_segments(m);
  rebase(m);
  for_each_section(m, patch_code);
  for_each_section(m, take_variables);
  system_add_variables((void*)m->descriptors, m->descriptor_count, (const void*)m->variables,
                       m->variables_end - m->variables);
  for (int i = 0; i < m->needed_count; i++) {
    if (is_system(m->needed[i]) || module_named(m->needed[i]) != NULL) { continue; }
    char other[8192];
    snprintf(other, sizeof(other), "%s/%s", folder, last_part(m->needed[i]));
    (void)load(strdup(other));
  }
  return m;
}

static void bind_all(const module_t* m) {
  for (int list = 0; list < 3; list++) { bind(m, list); }
}

/* What is interposed by it is interposed for nobody: the others are bound. */
void* module_open(const char* path, int mode) {
  enum { NOLOAD = 0x10, NODELETE = 0x80 };
  module_t* m = module_named(path);
  if (m == NULL && (mode & NOLOAD) == 0) {
    m = load(strdup(path));
    m->stays = false;
    bind_all(m);
    m->opened = 1;
    for_each_section(m, initialize);
  } else if (m != NULL) {
    m->opened++;
    m->stays |= (mode & NODELETE) != 0;
  }
  return m;
}

int module_close(void* module) {
  module_t* m = module;
  if (--m->opened > 0 || m->stays) { return 0; }
  m->install_name = NULL;
  return munmap(m->start, m->bytes);
}

void* module_symbol(const void* module, const char* name) {
  char text[256];
  snprintf(text, sizeof(text), "_%s", name);
  const bool is_one = module >= (void*)modules && module < (void*)(modules + module_count);
  return is_one ? exported(module, text) : find_symbol(name);
}

const char* module_path(const void* address, void** start) {
  for (int i = 0; i < module_count; i++) {
    const module_t* m = &modules[i];
    if ((uintptr_t)address - (uintptr_t)m->start >= m->bytes) { continue; }
    *start = (void*)(m->text + (uint64_t)m->slide);
    return m->path;
  }
  return NULL;
}

static void load_inserted(void) {
  char* names = getenv("DYLD_INSERT_LIBRARIES");
  if (names == NULL) { return; }
  names = strdup(names);
  for (char* name = strtok(names, ":"); name != NULL; name = strtok(NULL, ":")) {
    (void)load(name);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) { die("usage:", "machorun PROGRAM ARGUMENTS"); }
  main_argc = argc - 1;
  main_argv = argv + 1;
  const size_t length = (size_t)(last_part(argv[1]) - argv[1]);
  snprintf(folder, sizeof(folder), "%.*s", length == 0 ? 1 : (int)length,
           length == 0 ? "." : argv[1]);
  load_inserted();
  const module_t* program = load(argv[1]);
  /* A library binds before the tuples that are its own can be read. */
  for (int i = 0; i < module_count; i++) {
    if (header_of(&modules[i])->type == LIBRARY) { bind(&modules[i], 0); }
  }
  for (int i = 0; i < module_count; i++) { for_each_section(&modules[i], take_tuples); }
  if (getenv("MACHORUN_CXX") != NULL) { take_cxx(); }
  for (int i = 0; i < module_count; i++) { bind_all(&modules[i]); }
  system_start();
  for (int i = 0; i < module_count; i++) {
    if (&modules[i] != program) { for_each_section(&modules[i], initialize); }
  }
  for_each_section(&modules[(int)(program - modules)], initialize);
  char* apple[] = {NULL};
  main_fun* const entry =
      (main_fun*)(program->text + (uint64_t)program->slide + program->entry->words[0]);
  exit(entry(main_argc, main_argv, environ, apple));
}
