// Blocks used after they were freed. Harm: the attacker chooses what malloc returns, changes a
// block of the next owner, or reads what a block held.
#include <stdlib.h>
#include <string.h>

#include "misuse.h"

enum { ATTACKED = 8 };  // blocks kept beside the freed one, so that its page lives

static void keep_few(size_t n) {
  for (int i = 0; i < ATTACKED && n < 1000000; i++) { keep_new(n); }
}

// ---- writes over the link that a free list keeps in a freed block ----

static _Alignas(4096) char target[64 << 10];

static char* attacker_address(void) {
  set_trap(target, sizeof(target));
  return target + (16 << 10);
}

static void poison(size_t n, size_t words) {
  char* const value = attacker_address();
  keep_few(n);
  char *p = take(n), *q = take(n);
  keep_few(n);
  misuse_free(q);
  misuse_free(p);
  for (size_t i = 0; i < words && (i + 1) * sizeof(value) <= n; i++) {
    memcpy(opaque(p) + i * sizeof(value), &value, sizeof(value));
  }
  expect_heap_whole(n);
}

static void uaf_poison_next(size_t n) { poison(n, 8); }
static void uaf_first_word(size_t n) { poison(n, 1); }

// The two low bytes only: no address needs to be known.
static void uaf_partial_overwrite(size_t n) {
  char *p = take(n), *q = take(n), *in_use = keep_new(n);
  misuse_free(q);
  misuse_free(p);
  memcpy(opaque(p), &in_use, 2);
  expect_heap_whole(n);
}

static void uaf_self_loop(size_t n) {
  keep_few(n);
  char *p = take(n), *q = take(n);
  misuse_free(q);
  misuse_free(p);
  memcpy(opaque(p), &p, sizeof(p));
  expect_heap_whole(n);
}

// Blocks are allocated until this one is among them again; false: it does not come.
static bool is_taken_again(char* p, size_t n) {
  for (size_t i = 0; i < 10000 && i < (1 << 20) / n; i++) {
    char* again = take(n);
    if (again == p) { return true; }
    keep(again, n);
  }
  return false;
}

// What the link was at an earlier time is put back: a list then holds a block that is in use by
// now.
static void uaf_replay(size_t n) {
  uintptr_t old[2];
  keep_few(n);
  char *p = take(n), *q = take(n), *r = take(n);
  free(q);
  free(p);
  memcpy(old, opaque(p), sizeof(old));
  if (is_taken_again(p, n)) {
    keep_many(n);  // and so is the block that followed it in the list
    misuse_free(r);
    misuse_free(p);
    memcpy(opaque(p), old, sizeof(old));
  }
  expect_heap_whole(n);
}

// ---- later writes, to the end of a block: no link lies there ----

static void uaf_write_freed(size_t n) {
  keep_few(n);
  char* p = take(n);
  misuse_free(p);
  memset(opaque(p) + n - 8, 0x41, 8);
  for (int i = 0; i < crowd_of(n); i++) {
    char* q = calloc(1, n);
    for (size_t k = 0; k < n; k++) {
      if (q[k] != 0) { harmful("calloc returned what was written into freed memory"); }
    }
    keep(q, n);
  }
  expect_heap_whole(n);
}

// The same, and then blocks come and go until the freed one was in use again, whatever keeps it
// back.
static void uaf_write_found(size_t n) {
  enum { MOST = 20000, BYTES = 256 << 20 };
  char* churned[64] = {NULL};
  keep_few(n);
  char* p = take(n);
  misuse_free(p);
  memset(opaque(p) + n - 8, 0x41, 8);
  for (size_t i = 0; i < MOST && i < BYTES / n; i++) {
    misuse_free(churned[i % 64]);
    churned[i % 64] = take(n);
  }
  for (int i = 0; i < 64; i++) { free(churned[i]); }
  expect_heap_whole(n);
}

static void uaf_write_reused(size_t n) {
  char* p = take(n);
  misuse_free(p);
  for (int i = 0; i < crowd_of(n); i++) { keep_new(n); }
  memset(opaque(p) + n - 8, 0x41, 8);
  if (!kept_are_whole()) { harmful("changed a block of the next owner"); }
  expect_heap_whole(n);
}

// ---- reads ----

static const char secret[] = "Tell nobody!";
enum { SECRET_BYTES = sizeof(secret) - 1 };

static void fill_with_secret(char* p, size_t n) {
  for (size_t i = 0; i < n; i++) { opaque(p)[i] = secret[i % SECRET_BYTES]; }
}

static bool holds_secret(char* p, size_t n) {
  for (size_t i = 0; i + 6 <= n; i += 2) {
    if (memcmp(opaque(p) + i, secret, 6) == 0) { return true; }
  }
  return false;
}

static void uaf_read_stale(size_t n) {
  char* p = take(n);
  fill_with_secret(p, n);
  misuse_free(p);
  if (holds_secret(p, n)) { harmful("the content outlives the free"); }
  expect_heap_whole(n);
}

static void uaf_secret_to_next_owner(size_t n) {
  char* p = take(n);
  fill_with_secret(p, n);
  misuse_free(p);
  for (int i = 0; i < crowd_of(n); i++) {
    char* q = take(n);
    if (holds_secret(q, n)) { harmful("the next owner reads the content"); }
    keep(q, n);
  }
  expect_heap_whole(n);
}

static bool holds_address_near(char* p, size_t n) {
  for (size_t i = 0; i + sizeof(uintptr_t) <= n; i += sizeof(uintptr_t)) {
    uintptr_t word;
    memcpy(&word, opaque(p) + i, sizeof(word));
    if (word - (uintptr_t)p + (64 << 20) < 128 << 20) { return true; }
  }
  return false;
}

static void uaf_leaks_pointer(size_t n) {
  char* freed[ATTACKED];
  keep_few(n);
  for (int i = 0; i < ATTACKED; i++) { freed[i] = calloc(1, n); }
  for (int i = 0; i < ATTACKED; i++) { misuse_free(freed[i]); }
  for (int i = 0; i < ATTACKED; i++) {
    if (holds_address_near(freed[i], n)) { harmful("a freed block tells an address in the heap"); }
  }
  expect_heap_whole(n);
}

// Memory that was never used, or used by others: what does it tell?
static void uninitialised_read(size_t n) {
  for (int i = 0; i < crowd_of(n); i++) {
    char* p = take(n);
    if (holds_address_near(p, n)) { harmful("a new block tells an address in the heap"); }
    keep(p, n);
  }
  expect_heap_whole(n);
}

// Large memory is inaccessible as soon as it is freed.
static void uaf_large_access(size_t n) {
  char* p = take(n);
  fill_with_secret(p, n);
  misuse_free(p);
  if (holds_secret(p, n)) { harmful("freed memory can be read"); }
  memset(opaque(p), 0x41, n);
  harmful("freed memory can be written");
}

const misuse_t use_after_free_misuses[] = {
    {"uaf_poison_next", uaf_poison_next},
    {"uaf_first_word", uaf_first_word},
    {"uaf_partial_overwrite", uaf_partial_overwrite},
    {"uaf_self_loop", uaf_self_loop},
    {"uaf_replay", uaf_replay},
    {"uaf_write_freed", uaf_write_freed},
    {"uaf_write_found", uaf_write_found},
    {"uaf_write_reused", uaf_write_reused},
    {"uaf_read_stale", uaf_read_stale},
    {"uaf_secret_to_next_owner", uaf_secret_to_next_owner},
    {"uaf_leaks_pointer", uaf_leaks_pointer},
    {"uninitialised_read", uninitialised_read},
    {"uaf_large_access", uaf_large_access},
    {NULL, NULL},
};
