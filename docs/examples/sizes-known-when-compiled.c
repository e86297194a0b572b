#include <mimalloc.h>
#include <string.h>

typedef struct node {
  struct node* next;
  char name[24];
} node_t;

int main(void) {
  node_t* node = mi_zalloc_csize(sizeof(node_t));
  if (node == NULL) { return 1; }
  strcpy(node->name, "first");
  const int ok = node->next == NULL;
  mi_free_csize(node, sizeof(node_t)); /* debug builds check the size */
  return ok ? 0 : 1;
}
