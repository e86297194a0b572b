#!/bin/sh
# test: timeout=600 label=long
# packages: gcc g++ libc6-dev
# The C++ compiler on a large generated file: hundreds of megabytes in one process.
# shellcheck disable=SC2317  # called by both
. "$(dirname "$0")/lib/common.sh"
: "${CXX:=g++}"
need "$CXX" g++

awk 'BEGIN {
  print "#include <algorithm>\n#include <cstdio>\n#include <functional>\n#include <map>"
  print "#include <string>\n#include <vector>"
  print "template <int N, class T> struct node {"
  print "  T value;\n  std::map<T, std::vector<T>> index;\n  int f(int x) const;\n};"
  print "template <int N, class T> int node<N, T>::f(int x) const {\n  int s = N;"
  print "  for (auto& e : index) { for (auto& v : e.second) { s += x ^ (int)v; } }\n  return s;\n}"
  for (i = 0; i < 150; i++) {
    printf "static int part%d(int x) {\n  node<%d, long> n; n.value = x;\n", i, i
    for (j = 0; j < 12; j++) printf "  n.index[x + %d].push_back(%d);\n", j, i * j
    printf "  std::vector<std::string> v{\"a%d\", \"b\"};\n", i
    print "  auto less = [](const std::string& a, const std::string& b) { return a > b; };"
    print "  std::sort(v.begin(), v.end(), less);\n  std::function<int(int)> g = [&](int y) {"
    printf "    return y %% (%d + 1) + (int)v[0].size();\n  };\n  return n.f(x) + g(x);\n}\n", i
  }
  print "int main() {\n  int s = 0;"
  for (i = 0; i < 150; i++) printf "  s = s * 31 + part%d(s & 1023);\n", i
  print "  std::printf(\"%d\\n\", s);\n}"
}' >"$work/large.cpp"

work_large() {
  "$CXX" -std=c++17 -O1 -g -frandom-seed=1 -fwrapv -c "$work/large.cpp" -o large.o
  cksum large.o
  "$CXX" large.o -o large
  ./large
}

is_preloaded "$CXX" -E -x c++ /dev/null
both work_large
