/* test: timeout=60 when="wasm override" */
/* The names by which WebAssembly's C libraries know malloc, inner ones included, are all ours. */
#include "api.h"

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
void* memalign(size_t, size_t);
size_t malloc_usable_size(void*);

enum { BYTES = 1000, ALIGNED = 256 };

/* A block is ours, and goes back to our heap by any of the names. */
static void take(unsigned char* p, void (*release)(void*)) {
  CHECK(p != NULL && mi_is_in_heap_region(p) && mi_usable_size(p) >= BYTES);
  CHECK(malloc_usable_size(p) == mi_usable_size(p));
  memset(p, 0x5A, BYTES);
  release(p);
}

static void test_libc(void (*release)(void*)) {
  static char text[BYTES + 1];
  void* p = NULL;
  take(malloc(BYTES), release);
  take(calloc(BYTES, 1), release);
  take(realloc(NULL, BYTES), release);
  take(aligned_alloc(ALIGNED, 4 * ALIGNED), release);
  take(memalign(ALIGNED, BYTES), release);
  CHECK(posix_memalign(&p, ALIGNED, BYTES) == 0 && (uintptr_t)p % ALIGNED == 0);
  take(p, release);
  memset(text, 'x', BYTES);
  take((unsigned char*)strdup(text), release);
}

static void test_inner(void (*release)(void*)) {
  take(__libc_malloc(BYTES), release);
  take(__libc_calloc(1, BYTES), release);
  take(__libc_realloc(__libc_malloc(1), BYTES), release);
  void* p = __libc_memalign(ALIGNED, BYTES);
  CHECK((uintptr_t)p % ALIGNED == 0);
  take(p, release);
}

#ifdef __EMSCRIPTEN__

void* emscripten_builtin_malloc(size_t);
void* emscripten_builtin_memalign(size_t, size_t);
void emscripten_builtin_free(void*);

static void test_builtin(void (*release)(void*)) {
  take(emscripten_builtin_malloc(BYTES), release);
  void* p = emscripten_builtin_memalign(ALIGNED, BYTES);
  CHECK((uintptr_t)p % ALIGNED == 0);
  take(p, release);
}

#else

static void emscripten_builtin_free(void* p) { free(p); }
static void test_builtin(void (*release)(void*)) { (void)release; }

#endif

static void count_error(int error, void* count) {
  (void)error;
  ++*(int*)count;
}

int main(void) {
  int errors = 0; /* of pointers that are not ours */
  mi_register_error(count_error, &errors);
  void (*const release[])(void*) = {free, __libc_free, emscripten_builtin_free, mi_free};
  for (size_t i = 0; i < sizeof(release) / sizeof(release[0]); i++) {
    test_libc(release[i]);
    test_inner(release[i]);
    test_builtin(release[i]);
  }
  CHECK(errors == 0);
  return check_done();
}
