// What the misuses share. A misuse is one function: it misuses malloc in one way, then proves what
// came of it.
//   harmful()                 the proof: it says so and ends the program with STATUS_HARMFUL
//   returning, and a normal   nothing bad came of it
//   end of the program
// If the allocator stops the program, nobody gets that far. expected.txt says how each must end.
//
// Blocks that the program holds are `kept`: filled with a pattern of their own. As long as all
// patterns are whole, no two blocks share memory and nobody wrote into one.
#ifndef TEST_MISUSE_MISUSE_H
#define TEST_MISUSE_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STATUS_HARMFUL = 99, STATUS_NOT_HERE = 98, STATUS_WRONG_USE = 97 };

typedef struct misuse {
  const char* name;
  void (*commit)(size_t n);
} misuse_t;

// Each ends with a row without a name.
extern const misuse_t double_free_misuses[];
extern const misuse_t invalid_free_misuses[];
extern const misuse_t overflow_misuses[];
extern const misuse_t use_after_free_misuses[];
extern const misuse_t placement_misuses[];
extern const misuse_t size_misuses[];
extern const misuse_t delete_misuses[];

__attribute__((noreturn)) void harmful(const char* proof);
// This machine or C library lacks what the misuse needs.
__attribute__((noreturn)) void not_here(const char* why);

// malloc, as a function of which the compiler knows nothing: it would reason that its blocks are
// distinct.
char* take(size_t n);
// A pointer of which it knows nothing.
static inline char* opaque(char* p) {
  __asm__ volatile("" : "+r"(p) : : "memory");
  return p;
}

// The free that is the misuse, or that may notice it: by the thread that the case is about, see
// main().
void misuse_free(void* p);
// start_helper() comes before anything else.
void free_by_other_thread(void* p);
void start_helper(void);
void run_on_thread(void (*fun)(void*), void* arg);

// Fills memory with a pattern and watches it; NULL is passed through. Returns p.
char* keep(void* p, size_t n);
char* keep_new(size_t n);
// The same, but it is no block: nobody frees it.
char* keep_foreign(void* p, size_t n);
// So many new blocks that each page has to hand out all it believes to be free.
void keep_many(size_t n);
void unkeep(void* p);
bool kept_are_whole(void);
// Some byte of the range is in memory that is held.
bool is_kept(const char* p, size_t n);
void free_kept(void);

// Memory of the attacker: harmful() if keep() gets a block that lies in it.
void set_trap(void* p, size_t n);

// What most misuses end with: new blocks, all distinct from each other and from those held.
void expect_heap_whole(size_t n);

// Of `count` blocks, the two that lie closest to each other.
typedef struct neighbours {
  char *lower, *upper;
} neighbours_t;
neighbours_t closest(char** blocks, int count);

// How many blocks of a size make a crowd: neighbours for an overflow, say.
int crowd_of(size_t n);
enum { CROWD_MAX = 64 };

#ifdef __cplusplus
}
#endif
#endif
