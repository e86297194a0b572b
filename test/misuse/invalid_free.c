// Frees of what is not the start of a block. Harm: memory in use is handed out, or memory of the
// attacker's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "misuse.h"

enum { FOREIGN_BYTES = 4 << 20 };

// ---- into a block that is in use ----

static void free_inside(size_t n, size_t offset) {
  char* p = keep_new(n);
  keep_new(n);
  misuse_free(p + offset);
  expect_heap_whole(n);
}

static void free_plus1(size_t n) { free_inside(n, 1); }
static void free_plus8(size_t n) { free_inside(n, 8); }
static void free_plus16(size_t n) { free_inside(n, 16); }
static void free_interior(size_t n) { free_inside(n, n / 2 & ~(size_t)15); }
static void free_interior_page(size_t n) { free_inside(n, 4096); }

static void realloc_interior(size_t n) {
  char* p = keep_new(n);
  keep(realloc(p + (n / 2 & ~(size_t)15), n), n);
  expect_heap_whole(n);
}

static void free_aligned_plus16(size_t n) {
  char* p = keep(memalign(256, n), n);
  keep_new(n);
  misuse_free(p + 16);
  expect_heap_whole(n);
}

// ---- beside blocks ----

static void free_next_never_allocated(size_t n) {
  char* crowd[CROWD_MAX];
  const int count = crowd_of(n);
  for (int i = 0; i < count; i++) { crowd[i] = keep_new(n); }
  const neighbours_t two = closest(crowd, count);
  const size_t stride = (size_t)(two.upper - two.lower);
  char* highest = two.upper;  // of those that follow each other
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) {
      if (crowd[j] == highest + stride) { highest = crowd[j]; }
    }
  }
  misuse_free(highest + stride);
  expect_heap_whole(n);
}

static void free_unallocated_far(size_t n) {
  char* p = keep_new(n);
  misuse_free((char*)((uintptr_t)p & ~(uintptr_t)0xFFFF) + (32 << 20));
  expect_heap_whole(n);
}

// ---- memory of somebody else ----

static void free_foreign(char* memory, size_t bytes, size_t offset) {
  keep_foreign(memory, bytes);
  set_trap(memory, bytes);
  misuse_free(memory + offset);
}

static void free_stack(size_t n) {
  _Alignas(64) char local[512];
  free_foreign(local, sizeof(local), 64);
  expect_heap_whole(n);
}

static _Alignas(4096) char global[32 << 10];

static void free_global(size_t n) {
  free_foreign(global, sizeof(global), 4096);
  expect_heap_whole(n);
}

static void free_global_unaligned(size_t n) {
  free_foreign(global, sizeof(global), 4096 + 5);
  expect_heap_whole(n);
}

static char* map_new(size_t bytes, int protection) {
  char* p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) { not_here("no memory"); }
  return p;
}

static void free_foreign_mmap(size_t n) {
  free_foreign(map_new(FOREIGN_BYTES, PROT_READ | PROT_WRITE), FOREIGN_BYTES, 4096);
  expect_heap_whole(n);
}

// The House of Spirit: the attacker makes memory look like a block of an allocator that keeps sizes
// before blocks.
static void free_spirit(size_t n) {
  size_t* words = (size_t*)global;
  const size_t chunk = (n + sizeof(size_t) + 15) & ~(size_t)15;
  words[1] = chunk | 1;
  words[1 + chunk / sizeof(size_t)] = chunk | 1;
  set_trap(global, sizeof(global));
  misuse_free(&words[2]);
  expect_heap_whole(n);
}

// The same against allocators that find a header by alignment: the memory around a block is copied,
// with what headers there are, to a place of the same alignment.
static void free_spirit_aligned(size_t n) {
  enum { ALIGN = 4 << 20 };
  char* p = take(n);
  char* base = (char*)((uintptr_t)p & ~(uintptr_t)(ALIGN - 1));
  char* room = map_new((size_t)3 * ALIGN, PROT_READ | PROT_WRITE);
  char* fake = (char*)(((uintptr_t)room + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
  const int memory = open("/proc/self/mem", O_RDONLY);
  if (memory < 0) { not_here("no /proc"); }
  for (size_t i = 0; i < (size_t)(p - base) + 4096 && i < ALIGN; i += 4096) {
    if (pread(memory, fake + i, 4096, (off_t)(uintptr_t)(base + i)) < 0) {
      continue;
    }  // not mapped
  }
  close(memory);
  set_trap(room, (size_t)3 * ALIGN);
  misuse_free(fake + (p - base));
  expect_heap_whole(n);
}

// ---- addresses without memory ----

static void free_protnone(size_t n) {
  char* p = map_new(FOREIGN_BYTES, PROT_NONE);
  misuse_free(p + FOREIGN_BYTES / 2 + 64);
  expect_heap_whole(n);
}

static void free_unmapped(size_t n) {
  char* p = map_new(FOREIGN_BYTES, PROT_NONE);
  munmap(p, FOREIGN_BYTES);
  misuse_free(p + FOREIGN_BYTES / 2);
  expect_heap_whole(n);
}

static void free_address(size_t n, uintptr_t address) {
  keep_new(n);
  misuse_free((void*)address);
  expect_heap_whole(n);
}

static void free_low(size_t n) { free_address(n, 16); }
static void free_null_page(size_t n) { free_address(n, 4080); }
#if UINTPTR_MAX > 0xFFFFFFFFu
static void free_noncanonical(size_t n) { free_address(n, 0xDEAD000000000010u); }
static void free_just_noncanonical(size_t n) { free_address(n, 0x0000800000000000u); }
static void free_kernel(size_t n) { free_address(n, 0xFFFF888000000010u); }
#else
static void free_noncanonical(size_t n) {
  (void)n;
  not_here("every address is canonical");
}
static void free_just_noncanonical(size_t n) { free_noncanonical(n); }
static void free_kernel(size_t n) { free_address(n, 0xC0000010u); }
#endif
static void free_top(size_t n) { free_address(n, UINTPTR_MAX); }

const misuse_t invalid_free_misuses[] = {
    {"free_plus1", free_plus1},
    {"free_plus8", free_plus8},
    {"free_plus16", free_plus16},
    {"free_interior", free_interior},
    {"free_interior_page", free_interior_page},
    {"realloc_interior", realloc_interior},
    {"free_aligned_plus16", free_aligned_plus16},
    {"free_next_never_allocated", free_next_never_allocated},
    {"free_unallocated_far", free_unallocated_far},
    {"free_stack", free_stack},
    {"free_global", free_global},
    {"free_global_unaligned", free_global_unaligned},
    {"free_foreign_mmap", free_foreign_mmap},
    {"free_spirit", free_spirit},
    {"free_spirit_aligned", free_spirit_aligned},
    {"free_protnone", free_protnone},
    {"free_unmapped", free_unmapped},
    {"free_low", free_low},
    {"free_null_page", free_null_page},
    {"free_noncanonical", free_noncanonical},
    {"free_just_noncanonical", free_just_noncanonical},
    {"free_kernel", free_kernel},
    {"free_top", free_top},
    {NULL, NULL},
};
