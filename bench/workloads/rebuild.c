// bench: objects, blocks are built, freed in another order, and built again
// rows: --size 100,1000,4096,16384 --live 4,9,24,100
/* A table that is filled anew for each request, a document that is loaded again, the passes of a
   compiler: 4 to 100 MB of blocks of one size come and go. First nearly all pages of an allocator
   have a few blocks left, and then they are empty. What it gives back of them it needs again a
   moment later; what it keeps stays if the program does something else. */
#include "rebuild.h"

int main(int argc, char** argv) {
  rebuild_start(argc, argv);
  work(0);
  return rebuild_report();
}
