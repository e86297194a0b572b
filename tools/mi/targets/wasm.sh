# WebAssembly. WASI's programs run in a library for Python, which comes into build/cross, or in node.

cross_all+=(wasi wasi-node emscripten emscripten-threads)

cross_describe_wasm() {  # target
  case $1 in
    wasi)
      title="WebAssembly, WASI, wasmtime"
      cross_wasi "$root/build/cross/wasm/bin/python;$root/tools/wasi.py" ;;
    wasi-node)
      title="WebAssembly, WASI, node" packages=(nodejs)
      # Node 20 reads its clock for optimized code by a shorter way, and crashes once memory has grown.
      cross_wasi "node;--no-warnings;--no-turbo-fast-api-calls;$root/tools/wasi.mjs" ;;
    emscripten) title="WebAssembly, Emscripten, node" && cross_emscripten ;;
    emscripten-threads)
      title="WebAssembly, Emscripten with threads, node" flags=-pthread
      # Stacks are blocks of malloc, and some are freed late: short ones keep to the tests' ceilings.
      # Memory that grows as a thread begins may end it in V8: they begin with most of what they need.
      cross_emscripten -sEXIT_RUNTIME -Wno-pthreads-mem-growth -sDEFAULT_PTHREAD_STACK_SIZE=262144 \
        -sINITIAL_MEMORY=134217728 ;;
    *) return 1 ;;
  esac
}

cross_emscripten() {  # linker's options
  system=Emscripten compiler=emcc runner="node;--no-experimental-fetch"
  packages=(emscripten node-acorn)
  export NODE_PATH=/usr/share/nodejs  # where Debian has what its emcc wants
  local toolchain=/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake
  # -O1: else it optimizes each program once more, a quarter of a minute long.
  local linker="-O1 -sALLOW_MEMORY_GROWTH --pre-js $root/tools/emscripten.js $*"
  options=(-DCMAKE_TOOLCHAIN_FILE=$toolchain -DMI_TEST_CXX=OFF
    -DCMAKE_EXE_LINKER_FLAGS="$linker")
}

cross_wasi() {  # runner
  runner=$1 system=Generic compiler=clang-19
  packages+=(clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32)
  flags="--target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin"
  flags+=" -D_WASI_EMULATED_PROCESS_CLOCKS"
  options=(-DCMAKE_SYSTEM_PROCESSOR=wasm32 -DMI_TEST_CXX=OFF
    -DCMAKE_AR=/usr/bin/llvm-ar-19 -DCMAKE_RANLIB=/usr/bin/llvm-ranlib-19)
}

cross_set_up_wasmtime() {
  local home=$root/build/cross/wasm
  [ -x "$home/bin/python" ] && "$home/bin/python" -c 'import wasmtime' 2>/dev/null && return
  have python3 || return 1
  say "mi: installing wasmtime into build/cross/wasm"
  mkdir -p "$root/build/cross" && python3 -m venv "$home" >/dev/null 2>&1 &&
    "$home/bin/pip" install -q wasmtime >/dev/null 2>&1
}
