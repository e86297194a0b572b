#!/bin/sh
# test: timeout=300 label=programs
# packages: gcc g++ libc6-dev
# The C and C++ compilers: this library's own source and a program on much of the C++ library,
# compiled to the same object code, linked, and run.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
: "${CC:=gcc}" "${CXX:=g++}"
need "$CC" gcc
need "$CXX" g++

cat >"$work/stl.cpp" <<'END'
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <vector>

template <int N>
struct nest {
  typedef std::tuple<nest<N - 1>, std::map<int, std::vector<nest<N - 1>>>> type;
  int v[N];
};
template <>
struct nest<0> {
  int v;
};

struct shape {
  virtual ~shape() {}
  virtual double area() const = 0;
  std::string name;
};
struct square : shape {
  double a;
  explicit square(double x) : a(x) { name = std::string(40, 's'); }
  double area() const override { return a * a; }
};
struct circle : shape {
  double r;
  explicit circle(double x) : r(x) { name = "circle"; }
  double area() const override { return 3 * r * r; }
};

static long worker(int id) {
  std::map<std::string, std::list<int>> m;
  for (int i = 0; i < 20000; i++) { m[std::to_string((i * 7919 + id) % 1009)].push_back(i); }
  long sum = 0;
  for (auto& e : m) { sum += std::accumulate(e.second.begin(), e.second.end(), 0L) % 1013; }
  return sum;
}

int main() {
  nest<12> unused;
  (void)sizeof(unused);
  (void)sizeof(nest<12>::type);
  std::vector<std::unique_ptr<shape>> shapes;
  for (int i = 0; i < 5000; i++) {
    if (i % 2) {
      shapes.emplace_back(new square(i));
    } else {
      shapes.emplace_back(new circle(i));
    }
  }
  std::sort(shapes.begin(), shapes.end(),
            [](const std::unique_ptr<shape>& a, const std::unique_ptr<shape>& b) {
              return a->area() < b->area();
            });
  std::cout << shapes[2500]->area() << ' ' << shapes[17]->name << '\n';
  std::unordered_map<std::string, std::set<int>> index;
  std::ostringstream text;
  for (int i = 0; i < 20000; i++) {
    index[std::to_string(i % 997)].insert(i);
    text << i % 91 << ',';
  }
  std::cout << index["13"].size() << ' ' << text.str().size() << '\n';
  std::string s = text.str().substr(0, 3000);
  const std::regex pair("(\\d)(\\d),");
  std::cout << std::distance(std::sregex_iterator(s.begin(), s.end(), pair), std::sregex_iterator())
            << '\n';
  std::vector<long> results(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([i, &results] { results[i] = worker(i); });
  }
  for (auto& t : threads) { t.join(); }
  for (long r : results) { std::cout << r << '\n'; }
  try {
    throw std::runtime_error(std::string(1000, 'e'));
  } catch (const std::exception& e) { std::cout << std::string(e.what()).size() << '\n'; }
  std::function<int(int)> f = [&](int n) { return n < 2 ? n : f(n - 1) + f(n - 2); };
  std::deque<int> d;
  for (int i = 0; i < 22; i++) { d.push_front(f(i)); }
  std::cout << d.front() << '\n';
}
END

work_compile() {
  "$CC" -O2 -g -c "$root/src/static.c" -o c.o
  "$CXX" -std=c++17 -O2 -g -frandom-seed=1 -c "$work/stl.cpp" -o stl.o
  "$CXX" -pthread stl.o -o stl
  cksum c.o stl.o stl
  ./stl
}

is_preloaded "$CC" --version
is_preloaded "$CXX" -E -x c++ /dev/null
both work_compile
