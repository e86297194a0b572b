/* test: when=shared timeout=60 */
/* A program with a malloc of its own, as browsers and servers have: it defines malloc, calloc,
   realloc and free, and all that the C library allocates for it comes from there, and goes back. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64 /* for scandir in emulators */
#include "../check.h"
#include "process.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

/* ---- the allocator: a pool that only grows, each block behind its size ---- */

enum { POOL = 64 << 20, HEAD = 16 };
static _Alignas(16) unsigned char pool[POOL];
static size_t used;

static int is_own(const void* p) {
  return (uintptr_t)p - (uintptr_t)pool < POOL && (uintptr_t)p % 16 == 0;
}

static size_t* size_of(void* p) { return (size_t*)((unsigned char*)p - HEAD); }

void* malloc(size_t size) {
  if (size > POOL / 2) { return NULL; }
  const size_t at = __atomic_fetch_add(&used, (size + HEAD + 15) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at > POOL - HEAD - size) { return NULL; }
  void* p = pool + at + HEAD;
  *size_of(p) = size;
  return p;
}

void free(void* p) {
  if (p == NULL) { return; }
  if (!is_own(p)) {
    static const char text[] = "freed a block of another allocator\n";
    (void)!write(2, text, sizeof(text) - 1);
    _exit(3);
  }
  memset(p, 0xDF, *size_of(p));
}

void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
}

void* realloc(void* p, size_t size) {
  void* q = malloc(size);
  if (p == NULL || q == NULL) { return q; }
  const size_t old = *size_of(p);
  memcpy(q, p, old < size ? old : size);
  free(p);
  return q;
}

/* ---- what the C library allocates ---- */

static void give_back(void* p) {
  CHECK(p != NULL && is_own(p));
  free(p);
}

static void strings(void) {
  char* s = NULL;
  give_back(strdup("hello"));
  give_back(strndup("hello", 3));
  give_back(wcsdup(L"hello"));
  give_back(realpath("/", NULL));
  give_back(getcwd(NULL, 0));
  CHECK(asprintf(&s, "%d %s", 42, "things") == 9);
  give_back(s);
#if !defined(__GLIBC__) || __GLIBC_MINOR__ >= 26
  s = (char*)reallocarray(NULL, 10, 10);
  memset(s, 1, 100);
  s = (char*)reallocarray(s, 100, 100);
  CHECK(s != NULL && s[0] == 1 && s[99] == 1);
  give_back(s);
#endif
}

static void streams(void) {
  char* line = NULL;
  size_t room = 0;
  FILE* f = fopen("/proc/self/status", "r");
  if (f == NULL) { return; }
  CHECK(getline(&line, &room, f) > 0);
  give_back(line);
  fclose(f);
  char* text = NULL;
  f = open_memstream(&text, &room);
  CHECK(f != NULL && fprintf(f, "%20000d", 1) == 20000 && fclose(f) == 0);
  give_back(text);
}

static int any(const struct dirent* entry) { return entry->d_name[0] != 0; }

static void others(void) {
  struct dirent** entries = NULL;
  int count = scandir("/", &entries, any, alphasort);
  CHECK(count > 2);
  while (count-- > 0) { give_back(entries[count]); }
  give_back(entries);
  regex_t pattern;
  CHECK(regcomp(&pattern, "(a|b)*c{2,5}", REG_EXTENDED) == 0);
  CHECK(regexec(&pattern, "ababcc", 0, NULL, 0) == 0);
  regfree(&pattern);
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
  struct addrinfo* found = NULL;
  CHECK(getaddrinfo("127.0.0.1", NULL, &hints, &found) == 0);
  freeaddrinfo(found);
}

static void module(void) {
  char name[500];
  snprintf(name, sizeof(name), "%s/c_module.so", getenv("MI_TEST_MODULE_DIR"));
  void* loaded = dlopen(name, RTLD_NOW);
  CHECK(loaded != NULL);
  if (loaded != NULL) { CHECK(dlclose(loaded) == 0); }
  CHECK(dlopen("/no/such/library", RTLD_NOW) == NULL && dlerror() != NULL);
}

static void* all(void* unused) {
  strings();
  streams();
  others();
  module();
  return unused;
}

int main(void) {
  all(NULL);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, all, NULL) == 0);
  pthread_join(thread, NULL);
  CHECK(used > 0);
  return check_done();
}
