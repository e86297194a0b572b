#!/bin/sh
# test: label=long when="release gcc glibc"
# The recipe for Conan 2: conan create, with its test package, shared, static and secure; then the
# consumer by Conan's files for CMake.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
python_tool conan
CONAN_HOME=$work/conan
export CONAN_HOME
logged conan profile detect

for options in "shared=True" "shared=False" "shared=True secure=full"; do
  # shellcheck disable=SC2046,SC2086  # lists of options
  set -- $(printf -- '-o mimalloc/*:%s ' $options)
  logged conan create "$dist/packaging/conan" --version "$version" "$@"
  rm -rf generated
  logged conan install --requires="mimalloc/$version" -g CMakeDeps -g CMakeToolchain -of generated "$@"
  rm -rf consumer
  mkdir consumer
  cp "$source/test/consumer/use.c" consumer/
  cat >consumer/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(mimalloc CONFIG REQUIRED)
add_executable(use use.c)
target_link_libraries(use PRIVATE mimalloc::mimalloc)
END
  logged cmake -S consumer -B consumer/build -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$work/generated/conan_toolchain.cmake"
  logged cmake --build consumer/build
  logged consumer/build/use
done
echo "conan: $(conan --version)"
