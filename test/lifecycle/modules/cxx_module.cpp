// A C++ library that is loaded and unloaded by dlopen_module.c: it allocates in its static
// constructors, in thread_local objects and in a thread of its own, and frees in its static
// destructors.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Registry {
  std::mutex mutex;  // several threads may have the library loaded
  std::map<std::string, std::vector<int>> entries;
  std::unique_ptr<char[]> big;
  Registry() : big(new char[500000]) {
    for (int i = 0; i < 200; i++) {
      entries["entry number " + std::to_string(i)] = std::vector<int>(100, i);
    }
  }
  ~Registry() {
    std::string late(1000, 'l');  // allocates while it is being unloaded
    entries.clear();
  }
};

Registry registry;
thread_local std::string local(300, 't');

}  // namespace

extern "C" int module_work(int number) {
  size_t sum = 0;
  std::thread worker([&sum] {
    local += "more";
    const std::lock_guard<std::mutex> lock(registry.mutex);
    for (const auto& entry : registry.entries) { sum += entry.second.size(); }
  });
  worker.join();
  try {
    if (number >= 0) {
      throw std::string("thrown across the library, long enough to be allocated");
    }
  } catch (const std::string& text) { sum += text.size() * 0; }
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.entries["call"].push_back(number);
  return sum >= 200 * 100 ? 1 : 0;
}

extern "C" void* module_allocate(size_t size) { return ::operator new(size); }
extern "C" void module_release(void* p) { ::operator delete(p); }
