#include <mimalloc.h>
#include <pthread.h>

/* A plug-in, say, whose memory shall have nothing in common with the program's. */
static void* plug_in(void* arg) {
  mi_subproc_add_current_thread(*(mi_subproc_id_t*)arg); /* before it allocates */
  void* block = mi_malloc(1000);
  return block != NULL && mi_heap_of(block) == mi_heap_main() ? arg : NULL;
}

int main(void) {
  mi_subproc_id_t subproc = mi_subproc_new();
  pthread_t thread;
  void* ok = NULL;
  if (pthread_create(&thread, NULL, plug_in, &subproc) != 0) { return 1; }
  pthread_join(thread, &ok);
  mi_subproc_destroy(subproc); /* and what the thread left behind */
  return ok != NULL ? 0 : 1;
}
