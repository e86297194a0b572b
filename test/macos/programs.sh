# shellcheck shell=bash disable=SC2154  # sourced, with what it needs set
# Programs of others, built for macOS from their sources, which cargo fetches, and run with and
# without the library inserted. Part of run.sh, which has set $compiler, $run, $inserted and the functions.
program_sources() {
  mkdir -p crates/src
  : >crates/src/lib.rs
  cat >crates/Cargo.toml <<'END'
[package]
name = "crates"
version = "0.0.0"
edition = "2021"
[dependencies]
lua-src = "=551.1.0"
libsqlite3-sys = { version = "=0.40.0", features = ["bundled"] }
zstd-sys = "=2.1.3"
bzip2-sys = "=0.1.13"
rquickjs-sys = "=0.14.0"
END
  (cd crates && cargo vendor ../vendor) >vendor.log 2>&1
}

same_output() {  # name command...
  local name=$1
  shift
  timeout 300 "${run[@]}" "$@" >"$name.plain" 2>"$name.log"
  timeout 300 env "${inserted[@]:1}" "${run[@]}" "$@" >"$name.ours" 2>"$name.log"
  [ -s "$name.plain" ] && cmp "$name.plain" "$name.ours"
  outcome "program-$name" $?
}

build_program() {  # name options...
  $compiler -O2 -w -D_FORTIFY_SOURCE=0 -o "$@" >build.log 2>&1 || head -n 3 build.log
}

if [ -d vendor/rquickjs-sys ] || { command -v cargo >/dev/null && program_sources; }; then
  lua=$(ls -d vendor/lua-src/lua-5.4*) bzip2=$(ls -d vendor/bzip2-sys/bzip2-*)
  zstd=vendor/zstd-sys/zstd/lib sqlite=vendor/libsqlite3-sys/sqlite3
  quickjs=vendor/rquickjs-sys/quickjs
  build_program program-lua -DWITH_LUA -I"$lua" "$here/programs.c" "$lua"/*.c
  build_program program-sqlite -DWITH_SQLITE -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_THREADSAFE=0 \
    -DSQLITE_ENABLE_LOCKING_STYLE=0 -I$sqlite \
    "$here/programs.c" $sqlite/sqlite3.c
  build_program program-zstd -DWITH_ZSTD -DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -I$zstd \
    "$here/programs.c" $zstd/common/*.c $zstd/compress/*.c $zstd/decompress/*.c
  build_program program-bzip2 -DBZ_UNIX "$bzip2"/{bzip2,blocksort,bzlib,compress,crctable}.c \
    "$bzip2"/{decompress,huffman,randtable}.c
  build_program program-quickjs -DWITH_QUICKJS -D_GNU_SOURCE -I$quickjs "$here/programs.c" \
    $quickjs/{quickjs,libregexp,libunicode,dtoa}.c
  same_output lua ./program-lua
  same_output quickjs ./program-quickjs
  same_output sqlite ./program-sqlite
  same_output zstd ./program-zstd
  same_output bzip2 ./program-bzip2 -kc9 vendor/libsqlite3-sys/sqlite3/sqlite3.c
else
  echo "skip programs: cargo cannot fetch their sources"
fi
