#include <mimalloc.h>

int main(void) {
  mi_option_set_default(mi_option_purge_delay, 100);  /* unless the user has chosen another */
  mi_option_set(mi_option_arena_reserve, 256 * 1024); /* in KiB: 256 MiB */
  return mi_option_get_size(mi_option_arena_reserve) == (size_t)256 * 1024 * 1024 ? 0 : 1;
}
