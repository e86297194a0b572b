// bench: large, arrays of one length, each computed from the last one
// rows: --length 8,40,200 --live 1,3
/* What a numerical program does with temporary arrays: it allocates one, of so many MiB, computes
   it from the last one, and frees the oldest of those that are live. */
#include "workload.h"

enum { TRAFFIC = 16 * KIB, MOST = 8 }; /* MiB that are computed; arrays */

static const char *length_text = "40", *live_text = "1";

static uint64_t* computed(const uint64_t* from, size_t count, uint64_t seed) {
  uint64_t* to = take(count * sizeof(*to));
  for (size_t i = 0; i < count; i++) { to[i] = (from == NULL ? i : from[i]) + seed; }
  return to;
}

int main(int argc, char** argv) {
  workload_option("--length", &length_text);
  workload_option("--live", &live_text);
  workload_start(argc, argv);
  const size_t bytes = number_of(length_text) * MIB, live = number_of(live_text);
  CHECK(bytes > 0 && live >= 1 && live <= MOST);
  const size_t count = bytes / sizeof(uint64_t);
  const long operations = scaled(TRAFFIC) / (long)(bytes / MIB) + 2;
  uint64_t* arrays[MOST] = {NULL};
  const uint64_t* last = NULL;
  for (long i = 0; i < operations; i++) {
    uint64_t** oldest = &arrays[(size_t)i % live];
    uint64_t* next = computed(last, count, (uint64_t)i);
    if (*oldest != NULL) { give(*oldest, bytes); }
    *oldest = next;
    last = next;
  }
  const uint64_t sum = (uint64_t)operations * (uint64_t)(operations - 1) / 2;
  CHECK(last[0] == sum && last[count - 1] == count - 1 + sum);
  for (size_t i = 0; i < live; i++) {
    if (arrays[i] != NULL) { give(arrays[i], bytes); }
  }
  return report(operations);
}
