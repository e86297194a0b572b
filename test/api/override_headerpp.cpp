/* test: timeout=60
   mimalloc-override.h in C++. */
#include "api.h"

#include <string>
#include <vector>

#include <mimalloc-override.h>

int main() {
  void* p = malloc(100);
  CHECK(mi_any_heap_contains(p));
  p = realloc(p, 5000);
  CHECK(mi_any_heap_contains(p) && malloc_usable_size(p) >= 5000);
  free(p);
  char* s = strdup("text");
  CHECK(mi_any_heap_contains(s) && std::string(s) == "text");
  free(s);
  std::vector<int> v(1000, 5); /* the containers still work beside */
  CHECK(v[999] == 5);
  return check_done();
}
