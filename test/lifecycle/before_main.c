/* test: when=glibc timeout=20 */
/* The family works before main: from .preinit_array, before any library has run a constructor, and
   from constructors of every priority; what was allocated there is still good in main and can be
   freed there. */
#define _GNU_SOURCE
#include "../check.h"
#include "workout.h"

#include <unistd.h>

enum { PHASES = 4, KEPT = 50 };
static unsigned char* kept[PHASES][KEPT];
static bool fine[PHASES];
static bool null_is_fine;

static void use_in_phase(int phase) {
  free(NULL);
  null_is_fine = malloc_usable_size(NULL) == 0;
  for (int i = 0; i < KEPT; i++) {
    const size_t size = (size_t)(i + 1) * (size_t)(i + 1) * 40;
    kept[phase][i] = (unsigned char*)malloc(size);
    memset(kept[phase][i], phase + 1, size);
  }
  fine[phase] = workout();
}

static void in_preinit(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  use_in_phase(0);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char**,
                                                                              char**) = in_preinit;

__attribute__((constructor(101))) static void first_constructor(void) { use_in_phase(1); }
__attribute__((constructor(5000))) static void later_constructor(void) { use_in_phase(2); }
__attribute__((constructor)) static void last_constructor(void) {
  use_in_phase(3);
  fine[3] &= workout_in_thread();
}

int main(void) {
  CHECK(null_is_fine);
  for (int phase = 0; phase < PHASES; phase++) {
    CHECK(fine[phase]);
    for (int i = 0; i < KEPT; i++) {
      const size_t size = (size_t)(i + 1) * (size_t)(i + 1) * 40;
      unsigned char* p = kept[phase][i];
      CHECK(p != NULL && p[0] == phase + 1 && p[size - 1] == phase + 1);
      p = (unsigned char*)realloc(p, size * 2);
      CHECK(p != NULL && p[size - 1] == phase + 1);
      free(p);
    }
  }
  CHECK(workout());
  return check_done();
}
