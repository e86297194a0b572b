/* test: when=shared timeout=60 libs="dl" */
/* A library from the system that allocates much (libm does not, the resolver's and the character
   set converters do) is loaded and unloaded a hundred times. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <dlfcn.h>
#include <iconv.h>

static const char* const candidates[] = {"libstdc++.so.6", "libresolv.so.2", "libm.so.6",
                                         "libgcc_s.so.1"};

int main(void) {
  size_t early = 0;
  size_t mappings = 0;
  int loads = 0;
  for (int i = 0; i < 100; i++) {
    for (int c = 0; c < 4; c++) {
      void* library = dlopen(candidates[c], i % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
      loads += library != NULL;
      if (library != NULL) { CHECK(dlclose(library) == 0); }
    }
    CHECK(dlopen("no-such-library.so", RTLD_NOW) == NULL && dlerror() != NULL);
    /* loads a converter where there is one */
    iconv_t converter = iconv_open("UTF-16", "ISO-8859-15");
    if (converter != (iconv_t)-1) { iconv_close(converter); }
    if (i == 20) { early = resident_kib(), mappings = mapping_count(); }
  }
  CHECK(loads > 0);
  CHECK(resident_kib() < early + 4 * 1024);
  CHECK(mapping_count() < mappings + 16);
  CHECK(workout());
  return check_done();
}
