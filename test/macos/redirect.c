/* A program that knows nothing of this library: with the library inserted, whatever way a block
   comes, it is ours, and goes whatever way; what is another zone's goes back there.
   redirect ours|theirs [names]: the default zone is not ours */
#include <malloc/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int machorun_own_blocks(void) __attribute__((weak_import)); /* only the loader has it */
#define SINCE_14(name) __asm__("_malloc_type_" #name) __attribute__((weak_import))
extern void* typed_malloc(size_t, unsigned long long) SINCE_14(malloc);
extern void* typed_calloc(size_t, size_t, unsigned long long) SINCE_14(calloc);
extern void* typed_realloc(void*, size_t, unsigned long long) SINCE_14(realloc);
extern void* typed_valloc(size_t, unsigned long long) SINCE_14(valloc);
extern void* typed_aligned_alloc(size_t, size_t, unsigned long long) SINCE_14(aligned_alloc);
extern int typed_posix_memalign(void**, size_t, size_t, unsigned long long)
    SINCE_14(posix_memalign);
extern void typed_free(void*, unsigned long long) SINCE_14(free);
extern void* zone_malloc(malloc_zone_t*, size_t, unsigned long long) SINCE_14(zone_malloc);
extern void* zone_calloc(malloc_zone_t*, size_t, size_t, unsigned long long) SINCE_14(zone_calloc);
extern void* zone_realloc(malloc_zone_t*, void*, size_t, unsigned long long) SINCE_14(zone_realloc);
extern void* zone_memalign(malloc_zone_t*, size_t, size_t, unsigned long long)
    SINCE_14(zone_memalign);
extern void zone_free(malloc_zone_t*, void*, unsigned long long) SINCE_14(zone_free);

static int request, names_only, failures;

static void expect(const char* what, int holds) {
  if (holds) { return; }
  printf("failed: %s\n", what);
  failures++;
}

static void see(const char* what, void* p, size_t least) {
  const malloc_zone_t* zone = malloc_zone_from_ptr(p);
  const int ours = zone != NULL && strcmp(zone->zone_name, "mimalloc") == 0;
  if (p != NULL && ours == request && malloc_size(p) >= least) { return; }
  printf("%s: %s, %zu bytes\n", what,
         p == NULL ? "no memory"
         : ours    ? "ours"
                   : "theirs",
         malloc_size(p));
  failures++;
}

static void* run(void* unused) {
  (void)unused;
  void* p = malloc(100);
  see("malloc in a thread", p, 100);
  return p; /* freed by another */
}

static void test_names(void) {
  void* p = malloc(10);
  see("malloc", p, 10);
  p = realloc(p, 100000);
  see("realloc", p, 100000);
  p = reallocf(p, 20);
  see("reallocf", p, 20);
  free(p);
  p = calloc(3, 5);
  see("calloc", p, 15);
  free(p);
  p = valloc(30);
  see("valloc", p, 30);
  expect("valloc aligns", (size_t)p % 4096 == 0);
  free(p);
  p = aligned_alloc(256, 512);
  see("aligned_alloc", p, 512);
  expect("aligned_alloc aligns", (size_t)p % 256 == 0);
  free(p);
  expect("posix_memalign", posix_memalign(&p, 4096, 10) == 0);
  see("posix_memalign", p, 10);
  free(p);
  p = malloc(0);
  see("malloc(0)", p, 0);
  p = realloc(p, 0);
  see("realloc to 0", p, 0);
  free(p);
  expect("malloc_good_size", malloc_good_size(1000) >= 1000);
}

static void test_typed_names(void) {
  if (typed_malloc == NULL) { return; }
  void* p = typed_malloc(10, 1);
  see("malloc_type_malloc", p, 10);
  p = typed_realloc(p, 1000, 1);
  see("malloc_type_realloc", p, 1000);
  typed_free(p, 1);
  p = typed_calloc(3, 5, 1);
  see("malloc_type_calloc", p, 15);
  free(p);
  p = typed_valloc(10, 1);
  see("malloc_type_valloc", p, 10);
  free(p);
  p = typed_aligned_alloc(64, 640, 1);
  see("malloc_type_aligned_alloc", p, 640);
  free(p);
  expect("malloc_type_posix_memalign", typed_posix_memalign(&p, 64, 10, 1) == 0);
  see("malloc_type_posix_memalign", p, 10);
  free(p);
}

/* Whose zone the caller names, his the block is. */
static void test_typed_zone(void) {
  malloc_zone_t* zone = malloc_default_zone();
  if (zone_malloc == NULL || names_only) { return; }
  char* p = zone_malloc(zone, 10, 1);
  see("malloc_type_zone_malloc", p, 10);
  zone_free(zone, p, 1);
  p = zone_calloc(zone, 3, 50, 1);
  see("malloc_type_zone_calloc", p, 150);
  expect("malloc_type_zone_calloc clears", p[0] == 0 && p[149] == 0);
  p = zone_realloc(zone, p, 5000, 1);
  see("malloc_type_zone_realloc", p, 5000);
  free(p);
  p = zone_memalign(zone, 512, 10, 1);
  see("malloc_type_zone_memalign", p, 10);
  expect("malloc_type_zone_memalign aligns", (size_t)p % 512 == 0);
  free(p);
}

/* What libSystem allocates for a program. */
static void test_inside(void) {
  char* text = strdup("hello");
  see("strdup", text, 6);
  text = realloc(text, 1000);
  expect("realloc keeps", strcmp(text, "hello") == 0);
  free(text);
  text = realpath("/", NULL);
  see("realpath", text, 2);
  free(text);
}

static void test_others(void) {
  malloc_zone_t* zone = malloc_default_purgeable_zone();
  const int before = machorun_own_blocks == NULL ? 0 : machorun_own_blocks();
  char* p = malloc_zone_malloc(zone, 100);
  expect("another zone's block has a size", malloc_size(p) >= 100);
  expect("… and a zone that is not ours",
         strcmp(malloc_zone_from_ptr(p)->zone_name, "mimalloc") != 0);
  strcpy(p, "theirs");
  p = realloc(p, 5000);
  expect("realloc of another zone's block", p != NULL && strcmp(p, "theirs") == 0);
  free(p);
  p = malloc_zone_malloc(malloc_default_zone(), 10);
  if (!names_only) { see("malloc_zone_malloc of the default zone", p, 10); }
  malloc_zone_free(malloc_default_zone(), p);
  expect("another zone's blocks went home",
         machorun_own_blocks == NULL || machorun_own_blocks() == before);
  expect("what is no block has no size", malloc_size(&before) == 0 &&
                                             malloc_size((void*)0x96921a43dc453d19) == 0 &&
                                             malloc_size(NULL) == 0);
  expect("the middle of a block is none", (p = malloc(1000)) != NULL && malloc_size(p + 8) == 0);
  expect("a tag makes it another address", malloc_size((char*)((size_t)p | (size_t)1 << 60)) == 0);
  free(p);
}

int main(int argc, char** argv) {
  request = argc > 1 && strcmp(argv[1], "ours") == 0;
  names_only = argc > 2;
  test_names();
  test_typed_names();
  test_typed_zone();
  test_inside();
  test_others();
  pthread_t thread;
  void* p = NULL;
  expect("pthread_create", pthread_create(&thread, NULL, run, NULL) == 0);
  expect("pthread_join", pthread_join(thread, &p) == 0);
  free(p);
  return failures != 0;
}
