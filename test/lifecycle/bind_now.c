/* test: timeout=20 env="LD_BIND_NOW=1" */
/* Every symbol bound at the start, before the first one may be used lazily. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

int main(void) {
  CHECK(getenv("LD_BIND_NOW") != NULL);
  CHECK(workout() && workout_in_thread());
  CHECK(in_child(workout_of_child, 8) == 0);
  return check_done();
}
