// bench: objects, n-body simulation by Barnes and Hut: a tree built and freed at each step
/* The hierarchical method of Barnes and Hut (1986): space is cut into eight parts until each part
   holds one body; far parts act as one body. The cells (104 bytes) and leaves (40 bytes) of the
   tree are allocated body by body at each step, and freed by a walk over the tree: an order that
   has little to do with that of the allocation. Bodies live throughout. */
#include <math.h>

#include "workload.h"

typedef struct {
  double x[3];
} vector_t;

typedef struct {
  vector_t place, speed, pull;
  double mass;
} body_t;

typedef struct node_t {
  const body_t* body; /* NULL: a cell */
  double mass;
  vector_t center;       /* of mass; in cells under construction, the sum of mass * place */
  struct node_t* part[]; /* 8 in a cell, none in a leaf */
} node_t;

enum {
  LEAF_BYTES = sizeof(node_t),
  CELL_BYTES = sizeof(node_t) + 8 * sizeof(node_t*),
  BODIES = 8000
};

static long operations;

static node_t* new_leaf(const body_t* body) {
  node_t* leaf = take(LEAF_BYTES);
  leaf->body = body;
  leaf->mass = body->mass;
  leaf->center = body->place;
  operations++;
  return leaf;
}

static node_t* new_cell(void) {
  operations++;
  return take_zeroed(CELL_BYTES);
}

/* Which eighth of the cube around `middle`; moves `middle` to that of the part. */
static size_t choose_part(vector_t* middle, double half, const vector_t* place) {
  size_t index = 0;
  for (size_t k = 0; k < 3; k++) {
    const bool above = place->x[k] >= middle->x[k];
    index = index * 2 + (above ? 1 : 0);
    middle->x[k] += above ? half / 2 : -half / 2;
  }
  return index;
}

static void insert(node_t* cell, const body_t* body, double half) {
  vector_t middle = {{0, 0, 0}};
  node_t* leaf = new_leaf(body);
  for (;;) {
    cell->mass += body->mass;
    for (size_t k = 0; k < 3; k++) { cell->center.x[k] += body->mass * body->place.x[k]; }
    const vector_t outer = middle;
    node_t** part = &cell->part[choose_part(&middle, half, &body->place)];
    half /= 2;
    if (*part == NULL) {
      *part = leaf;
      return;
    }
    if ((*part)->body != NULL) { /* two in one part: a cell for both */
      node_t* other = *part;
      node_t* between = new_cell();
      vector_t inner = outer;
      choose_part(&inner, half * 2, &other->center);
      between->mass = other->mass;
      for (size_t k = 0; k < 3; k++) { between->center.x[k] = other->mass * other->center.x[k]; }
      between->part[choose_part(&inner, half, &other->center)] = other;
      *part = between;
    }
    cell = *part;
  }
}

static void finish_centers(node_t* node) {
  if (node->body != NULL) { return; }
  for (size_t k = 0; k < 3; k++) { node->center.x[k] /= node->mass; }
  for (size_t i = 0; i < 8; i++) {
    if (node->part[i] != NULL) { finish_centers(node->part[i]); }
  }
}

static void free_tree(node_t* node) {
  if (node->body != NULL) {
    give(node, LEAF_BYTES);
    return;
  }
  for (size_t i = 0; i < 8; i++) {
    if (node->part[i] != NULL) { free_tree(node->part[i]); }
  }
  give(node, CELL_BYTES);
}

static void add_pull(const node_t* node, double size, body_t* body) {
  if (node->body == body) { return; }
  double d[3], square = 1e-4; /* softened, for bodies that come close */
  for (size_t k = 0; k < 3; k++) {
    d[k] = node->center.x[k] - body->place.x[k];
    square += d[k] * d[k];
  }
  if (node->body != NULL || size * size < square) { /* far enough to be one body */
    const double factor = node->mass / (square * sqrt(square));
    for (size_t k = 0; k < 3; k++) { body->pull.x[k] += factor * d[k]; }
    return;
  }
  for (size_t i = 0; i < 8; i++) {
    if (node->part[i] != NULL) { add_pull(node->part[i], size / 2, body); }
  }
}

static void move(body_t** bodies, size_t count, double time) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < 3; k++) {
      bodies[i]->speed.x[k] += time * bodies[i]->pull.x[k];
      bodies[i]->place.x[k] += time * bodies[i]->speed.x[k];
    }
  }
}

static void step(body_t** bodies, size_t count) {
  double half = 1;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < 3; k++) {
      while (fabs(bodies[i]->place.x[k]) >= half) { half *= 2; }
    }
  }
  node_t* root = new_cell();
  for (size_t i = 0; i < count; i++) { insert(root, bodies[i], half); }
  finish_centers(root);
  CHECK(fabs(root->mass - 1) < 1e-9);
  for (size_t i = 0; i < count; i++) {
    bodies[i]->pull = (vector_t){{0, 0, 0}};
    add_pull(root, 2 * half, bodies[i]);
  }
  free_tree(root);
  move(bodies, count, 1e-3);
}

static double random_place(rng_t* rng) {
  double sum = -2; /* denser in the middle */
  for (int i = 0; i < 4; i++) { sum += (double)(rng_next(rng) >> 11) * 0x1p-53; }
  return sum / 2;
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const size_t count = BODIES;
  const long steps = scaled(40);
  rng_t rng = rng_seeded(1);
  body_t** bodies = take(count * sizeof(body_t*));
  for (size_t i = 0; i < count; i++) {
    bodies[i] = take_zeroed(sizeof(body_t));
    bodies[i]->mass = 1.0 / (double)count;
    for (size_t k = 0; k < 3; k++) { bodies[i]->place.x[k] = random_place(&rng); }
  }
  for (long i = 0; i < steps; i++) { step(bodies, count); }
  for (size_t k = 0; k < 3; k++) { /* what is pulled pulls back: the sum stays 0, about */
    double momentum = 0;
    for (size_t i = 0; i < count; i++) { momentum += bodies[i]->mass * bodies[i]->speed.x[k]; }
    CHECK(fabs(momentum) < 1e-2);
  }
  for (size_t i = 0; i < count; i++) { give(bodies[i], sizeof(body_t)); }
  give(bodies, count * sizeof(body_t*));
  return report(operations);
}
