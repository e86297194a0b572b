/* test: timeout=60 when="release linux" not-emulated="the emulator shows no flags of mappings"
   What is advised for huge pages begins and ends with whole ones: small blocks in arenas that are
   full, and long blocks in a large heap. A part of one would be in small OS pages. */
#include "api.h"
#include "../lifecycle/process.h"

enum { HUGE = 2 << 20, SMALL = 100 << 10, SMALL_COUNT = 1000, LONG_COUNT = 12 };

static struct {
  size_t advised, broken;
} found;

/* A line of /proc/self/smaps: where a mapping lies, or its flags. */
static void look(const char* line) {
  static size_t start, end;
  size_t from = 0, to = 0;
  if (sscanf(line, "%zx-%zx ", &from, &to) == 2) { start = from, end = to; }
  if (strncmp(line, "VmFlags:", 8) != 0 || strstr(line, " hg") == NULL) { return; }
  found.advised += end - start;
  found.broken += start % HUGE != 0 || end % HUGE != 0;
}

static void look_at_all(void) {
  char line[1000];
  found.advised = found.broken = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  if (file == NULL) { return; }
  while (fgets(line, sizeof(line), file) != NULL) { look(line); }
  fclose(file);
}

int main(void) {
  static void* blocks[SMALL_COUNT + LONG_COUNT];
  size_t count = 0;
  uint64_t random = 1;
  while (count < SMALL_COUNT) { blocks[count++] = memset(mi_malloc(SMALL), 1, SMALL); }
  look_at_all();
  if (found.advised == 0) { return skip("no huge pages here"); }
  CHECK(found.advised >= (size_t)SMALL_COUNT / 2 * SMALL && found.broken == 0);
  while (count < SMALL_COUNT + LONG_COUNT) {
    const size_t size = 5 * MIB + random_below(&random, 20 * MIB);
    blocks[count++] = memset(mi_malloc(size), 1, size);
  }
  look_at_all();
  CHECK(found.advised >= (size_t)LONG_COUNT * 5 * MIB && found.broken == 0);
  while (count > 0) { mi_free(blocks[--count]); }
  return check_done();
}
