// The limit of nature for time: an allocator to preload that moves a pointer, and never frees.
//
// No allocator can spend fewer instructions on malloc and free. One that reuses memory may still be
// faster, as this one touches new memory all the time: that costs page faults and cache misses.
// Threads take chunks of one large reservation; a quarter of the machine's memory is the end of it.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))
#define COLD   __attribute__((noinline, cold))

enum { ALIGNMENT = 16, HEADER = 16, CHUNK = 1 << 20 };

typedef struct {
  char *next, *end;
} chunk_t;

static _Thread_local chunk_t chunk __attribute__((tls_model("initial-exec")));
static _Atomic(char*) reserved_next;
static _Atomic(char*) reserved_end;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) & ~(to - 1); }

// Several threads may do this at first; the reservations of all but one stay unused.
static COLD void reserve(void) {
  size_t size = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * (size_t)sysconf(_SC_PAGESIZE);
  char* start =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) { return; }
  char* none = NULL;
  if (atomic_compare_exchange_strong(&reserved_end, &none, start + size)) {
    atomic_store(&reserved_next, start);
  }
}

static COLD char* take_reserved(size_t size) {
  if (atomic_load(&reserved_end) == NULL) { reserve(); }
  char* end = atomic_load(&reserved_end);
  char* start;
  do { start = atomic_load(&reserved_next); } while (start == NULL && end != NULL);
  do {
    if (start == NULL || size > (size_t)(end - start)) { return NULL; }
  } while (!atomic_compare_exchange_weak(&reserved_next, &start, start + size));
  return start;
}

// Puts a block behind its header into fresh memory.
static COLD char* place(char* from, size_t size, size_t alignment) {
  if (from == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  char* block = (char*)round_up((uintptr_t)from + HEADER, alignment);
  ((size_t*)(void*)block)[-1] = size;
  return block;
}

// More than the chunk holds: the rest of it is lost. A large block leaves it as it is.
static COLD void* allocate_slow(size_t size, size_t alignment) {
  size_t needed = size + HEADER + alignment;
  if (needed < size) { return place(NULL, 0, 0); }
  if (needed > CHUNK / 4) { return place(take_reserved(round_up(needed, 4096)), size, alignment); }
  char* start = take_reserved(CHUNK);
  char* block = place(start, size, alignment);
  if (block != NULL) { chunk = (chunk_t){block + round_up(size, ALIGNMENT), start + CHUNK}; }
  return block;
}

PUBLIC void* malloc(size_t size) {
  char* block = chunk.next + HEADER;
  if (__builtin_expect(size >= CHUNK || (ptrdiff_t)(size + HEADER) > chunk.end - chunk.next, 0)) {
    return allocate_slow(size, ALIGNMENT);
  }
  chunk.next = block + round_up(size, ALIGNMENT);
  ((size_t*)(void*)block)[-1] = size;
  return block;
}

PUBLIC void free(void* block) { (void)block; }

PUBLIC size_t malloc_usable_size(void* block) { return block == NULL ? 0 : ((size_t*)block)[-1]; }

// Memory is never used twice, so that it is still zero.
PUBLIC void* calloc(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return malloc(total);
}

PUBLIC void* realloc(void* block, size_t size) {
  size_t old = malloc_usable_size(block);
  if (block != NULL && size <= old) { return block; }
  void* moved = malloc(size);
  if (moved != NULL && block != NULL) { memcpy(moved, block, old); }
  return moved;
}

PUBLIC void* memalign(size_t alignment, size_t size) {
  return alignment <= ALIGNMENT ? malloc(size) : allocate_slow(size, alignment);
}
PUBLIC void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
PUBLIC void* valloc(size_t size) { return memalign(4096, size); }
PUBLIC void* pvalloc(size_t size) { return memalign(4096, round_up(size, 4096)); }

PUBLIC int posix_memalign(void** block, size_t alignment, size_t size) {
  void* taken = memalign(alignment, size);
  if (taken == NULL) { return ENOMEM; }
  *block = taken;
  return 0;
}
