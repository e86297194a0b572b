// bench: threads, each builds blocks, frees them in another order, and builds them again
// rows: --size 100,1000,4096,16384,65536 --live 4,24 --threads 2,8
/* As rebuild, by several threads at a time, each with blocks of its own: requests of a server,
   files that a compiler works on. They share nothing and should run as fast together as alone; but
   while one frees, another one builds, and may take what the first is about to have back. */
#include "rebuild.h"

int main(int argc, char** argv) {
  rebuild_start(argc, argv);
  run_workers(work);
  return rebuild_report();
}
