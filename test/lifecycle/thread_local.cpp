/* test: timeout=60 */
/* C++ thread_local objects whose destructors allocate and free at the end of their thread, and at
   the end of main's. */
#include "../check.h"
#include "process.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> destroyed{0};
static std::atomic<int> wrong{0};

struct Late {
  std::vector<std::string> words;
  std::map<int, std::string> index;
  ~Late() {
    std::vector<std::string> copy(words); /* allocates at this late hour */
    for (size_t i = 0; i < copy.size(); i++) {
      if (copy[i] != index[static_cast<int>(i)]) { wrong++; }
    }
    copy.emplace_back(5000, 'x');
    std::unique_ptr<char[]> big(new char[300000]);
    big[299999] = 1;
    destroyed++;
  }
};

static thread_local Late first;
static thread_local std::string second(200, 'b');
static thread_local std::unique_ptr<Late> third(new Late);

static void fill(Late& late) {
  for (int i = 0; i < 200; i++) {
    late.words.push_back("a longer word, number " + std::to_string(i));
    late.index[i] = late.words.back();
  }
}

static void run() {
  fill(first);
  fill(*third);
  if (second.size() != 200) { wrong++; }
}

static int child() {
  run();
  std::exit(3); /* destroys the main thread's objects first */
}

int main() {
  size_t early = 0;
  for (int i = 0; i < 300; i++) {
    std::thread a(run), b(run);
    a.join();
    b.join();
    if (i == 50) { early = resident_kib(); }
  }
  CHECK(destroyed == 300 * 2 * 2);
  CHECK(wrong == 0);
  CHECK(is_emulated() || resident_kib() < early + 8 * 1024);
  CHECK(in_child(child, 15) == 3);
  return check_done();
}
