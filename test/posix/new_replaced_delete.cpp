/* test: when=override timeout=20 */
// A program that replaces plain delete alone: each form of it comes there, with what malloc gave.
#include "new_replaced.h"

static size_t seen;

void operator delete(void* p) noexcept {
  seen += p != nullptr;
  free(p);
}

int main() {
  void* p[MOST];
  size_t gave = 0;
  for (int way = 0; way < FORMS; way++) {
    const int n = take_plain(p);
    for (int i = 0; i < n; i++) {
      CHECK(p[i] != nullptr && !is_in_pool(p[i]));
      give_plain(p[i], way);
      gave++;
    }
  }
  CHECK(seen == gave);
  return check_done();
}
