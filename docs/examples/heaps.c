#include <mimalloc.h>
#include <stdio.h>

typedef struct node {
  struct node *left, *right;
} node_t;

/* A tree of this height; its nodes are never freed one by one. */
static node_t* grow(mi_heap_t* heap, int height) {
  node_t* node = mi_heap_zalloc(heap, sizeof(node_t));
  if (node != NULL && height > 1) {
    node->left = grow(heap, height - 1);
    node->right = grow(heap, height - 1);
  }
  return node;
}

int main(void) {
  mi_heap_t* heap = mi_heap_new();
  if (heap == NULL) { return 1; }
  node_t* tree = grow(heap, 16);
  const int ok = tree != NULL && mi_heap_of(tree) == heap && mi_heap_contains(heap, tree->left);
  mi_heap_destroy(heap); /* all 65535 nodes at once */
  return ok ? 0 : 1;
}
