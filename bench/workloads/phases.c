// bench: objects, blocks of many sizes are built, freed in some order, and built again
// rows: --sizes 16-400,72-2700,500-9000,4000-60000,20000-120000 --live 8,100 --order same,mixed
/* What rebuild does, with sizes between two numbers, each as likely as the others, in place of one:
   the objects of a request, a frame, a pass of a compiler. Each size class of an allocator ends
   with some memory of its own, and all of these lie between what is unused. */
#include "phases.h"

int main(int argc, char** argv) {
  phases_start(argc, argv);
  work(0);
  return phases_report();
}
