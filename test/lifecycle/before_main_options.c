/* test: only=preload when=glibc timeout=20 env="MIMALLOC_SHOW_STATS=1" stderr="elapsed" */
/* What the environment asks for is heard also where the first call comes from .preinit_array,
   before the C library knows the environment. */
#include <stdlib.h>

#include "../check.h"

static void* volatile early;

static void in_preinit(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  early = malloc(100);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char**,
                                                                              char**) = in_preinit;

int main(void) {
  CHECK(early != NULL);
  free(early);
  return check_done();
}
