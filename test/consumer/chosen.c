// Compares options with what it is told: NAME=VALUE, of the defaults that the build has chosen.
#include <mimalloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char* name;
  mi_option_t option;
} options[] = {
    {"purge_delay", mi_option_purge_delay},
    {"arena_reserve", mi_option_arena_reserve},
    {"show_errors", mi_option_show_errors},
    {"allow_thp", mi_option_allow_thp},
};

static int is_so(const char* told) {
  const char* value = strchr(told, '=') + 1;
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
    if (strncmp(told, options[i].name, (size_t)(value - told - 1)) == 0) {
      const long found = mi_option_get(options[i].option);
      printf("%s: %ld\n", told, found);
      return found == atol(value);
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  int bad = 0;
  for (int i = 1; i < argc; i++) { bad += !is_so(argv[i]); }
  return bad;
}
