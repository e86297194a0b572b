/* test: env="MIMALLOC_SHOW_LEAKS=1 MIMALLOC_GUARDED_SAMPLE_RATE=0" exit=0 stderr="5 blocks of 10[45][0-9]{4}$" when="posix|wasi whole" */
/* The listing at exit: what is still in use, one line a size, most bytes first. The program looks
   at a listing of its own first, which it makes a child print, if there are processes. No block is
   guarded: one that is has a size of its own in the listing. */
#include "../system.h"
#include "api.h"

#include <stdio.h>

enum { LINES = 60, BLOCKS = 5 };

typedef struct line {
  unsigned long bytes, blocks, size;
} line_t;

static void* kept[BLOCKS];

static int leave_some(void) {
  for (volatile size_t i = 0; i < BLOCKS; i++) { kept[i] = mi_malloc(MIB); } /* from one place */
  for (size_t i = 0; i < 300; i++) { CHECK(mi_malloc(3000) != NULL); }
  for (size_t i = 0; i < 40; i++) { CHECK(mi_malloc(40 * KIB + i * 8 * KIB) != NULL); }
  for (size_t i = 0; i < 1000; i++) { mi_free(mi_malloc(500)); } /* not in the listing */
  mi_heap_t* heap = mi_heap_new();
  for (size_t i = 0; i < 70; i++) { CHECK(mi_heap_malloc(heap, 700) != NULL); }
  return 0;
}

static size_t parse(const char* text, line_t* lines) {
  size_t count = 0;
  for (const char* at = text; at != NULL && count < LINES; at = strchr(at, '\n')) {
    at += at != text;
    line_t* line = &lines[count];
    if (sscanf(at, " %lu bytes in %lu block%*[s] of %lu", &line->bytes, &line->blocks,
               &line->size) == 3 ||
        sscanf(at, " %lu bytes in %lu block of %lu", &line->bytes, &line->blocks, &line->size) ==
            3) {
      count++;
    }
  }
  return count;
}

static bool is_listed(const line_t* lines, size_t count, size_t blocks, size_t size) {
  for (size_t i = 0; i < count; i++) {
    if (lines[i].blocks == blocks && lines[i].size >= size && lines[i].size < size + size / 8) {
      return true;
    }
  }
  return false;
}

/* Of a child that leaves some blocks, at its end. */
static void test_listing(void) {
  static char text[64 * KIB];
  static line_t lines[LINES];
  CHECK(os_run_child(leave_some, text, sizeof(text)) == 0);
  const size_t count = parse(text, lines);
  CHECK(strstr(text, "mimalloc: still in use: ") == text);
  CHECK(count == 20 && strstr(text, " of other sizes\n") != NULL); /* it is cut short */
  CHECK(is_listed(lines, count, BLOCKS, MIB));
  CHECK(is_listed(lines, count, 300, 3000));
  CHECK(!is_listed(lines, count, 1000, 500));
  for (size_t i = 0; i < count; i++) {
    CHECK(lines[i].bytes == lines[i].blocks * lines[i].size);
    CHECK(i == 0 || lines[i].bytes <= lines[i - 1].bytes);
  }
  if (check_failures != 0) { fputs(text, stderr); }
}

static int leave_empty(void) {
  for (volatile size_t i = 0; i < BLOCKS; i++) { kept[i] = mi_malloc(0); }
  return 0;
}

/* Blocks of no bytes have a line of their own, in builds that know what was asked for. */
static void test_empty(void) {
  static char text[64 * KIB];
  CHECK(os_run_child(leave_empty, text, sizeof(text)) == 0);
  CHECK(strstr(text, " in 0 blocks of 0\n") == NULL && strstr(text, " of other sizes\n") == NULL);
  if (check_failures != 0) { fputs(text, stderr); }
}

int main(void) {
  if (HAS_PROCESSES) { test_empty(); }
  if (HAS_PROCESSES) { test_listing(); }
  for (volatile size_t i = 0; i < BLOCKS; i++) { kept[i] = mi_malloc(MIB); } /* from one place */
  return check_done();
}
