/* Blocks of the C library's own malloc, whose addresses have a tag in their top byte, go back to
   it as they are; a block of ours under a tag is refused and stays; mallopt tunes our heap. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "mimalloc.h"
#include "own_malloc.h"

int mallopt(int parameter, int value);

enum { DECAY_TIME = -100, PURGE = -101, NO_INIT = -103, PURGE_ALL = -104 };
enum { CACHE_COUNT_MAX = -200, ZERO_INIT = -203, TAGGING_LEVEL = -204 };
enum { PAST_THE_LAST = -300 };

/* Through a volatile variable, so that the compiler knows nothing of it. */
static void* tagged(uintptr_t address) {
  static volatile uintptr_t hidden;
  hidden = address | (uintptr_t)0xb4 << 56;
  return (void*)hidden;
}

static void theirs(void) {
  void* p = tagged((uintptr_t)0x7a12345670);
  CHECK(realloc(p, 123) == NULL);
  free(tagged((uintptr_t)p));
  CHECK(own_calls.freed == p);
  CHECK(own_calls.resized == p && own_calls.size == 123);
}

static int errors;

static void count_error(int error, void* unused) {
  (void)error, (void)unused;
  errors++;
}

static void ours(void) {
  enum { BYTES = 100 };
  unsigned char* p = (unsigned char*)malloc(BYTES);
  CHECK((uintptr_t)p >> 48 == 0);
  memset(p, 7, BYTES);
  mi_register_error(count_error, NULL);
  free(tagged((uintptr_t)p));
  CHECK(errors == 1);
  unsigned char* q = (unsigned char*)malloc(BYTES);
  CHECK(q != p && p[0] == 7 && p[BYTES - 1] == 7);
  free(q);
  free(p);
  CHECK(own_calls.freed != tagged((uintptr_t)p));
}

/* Those of all API levels: the C library's own malloc says what comes of it. */
static void passed_on(void) {
  for (int parameter = DECAY_TIME; parameter > PAST_THE_LAST; parameter--) {
    CHECK(mallopt(parameter, -parameter) == (parameter != ZERO_INIT));
    CHECK(own_calls.parameter == parameter && own_calls.value == -parameter);
  }
}

static void tuning(void) {
  CHECK(mallopt(DECAY_TIME, 250) == 1 && mi_option_get(mi_option_purge_delay) == 250);
  CHECK(own_calls.parameter == DECAY_TIME && own_calls.value == 250);
  void* p = malloc((size_t)4 << 20);
  memset(p, 1, (size_t)4 << 20);
  free(p);
  CHECK(mallopt(PURGE, 0) == 1);
  CHECK(mallopt(PURGE_ALL, 0) == 1 && own_calls.parameter == PURGE_ALL);
  CHECK(mallopt(NO_INIT, 1) == 1);
  CHECK(mallopt(CACHE_COUNT_MAX, 5) == 1 && own_calls.parameter == CACHE_COUNT_MAX);
  CHECK(mallopt(ZERO_INIT, 1) == 0 && own_calls.parameter == ZERO_INIT && own_calls.value == 1);
  CHECK(mallopt(TAGGING_LEVEL, 0) == 1 && own_calls.parameter == TAGGING_LEVEL);
}

int main(void) {
  theirs();
  ours();
  tuning();
  passed_on();
  return check_done();
}
