// bench: threads, each builds blocks of many sizes, frees them, and builds them again
// rows: --sizes 500-9000,20000-120000 --live 1,8 --threads 2,8
/* As phases, by several threads at a time, each with blocks of its own: requests of a server,
   images that are made from tiles. Nothing is shared but what an allocator shares, pages and large
   blocks that come and go: if threads meet there each such block takes them a microsecond. */
#include "phases.h"

int main(int argc, char** argv) {
  phases_start(argc, argv);
  run_workers(work);
  return phases_report();
}
