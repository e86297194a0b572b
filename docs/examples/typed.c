#include <mimalloc.h>

typedef struct point {
  int x, y;
} point_t;

int main(void) {
  point_t* point = mi_zalloc_tp(point_t);
  point_t* points = mi_calloc_tp(point_t, 100);
  const int ok = point != NULL && points != NULL && point->x == 0 && points[99].y == 0;
  mi_free_tp(point_t, point);
  mi_free(points);
  return ok ? 0 : 1;
}
