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

ours() {  # file blocks: the statistics in it are of so many blocks at least
  awk -v least="$2" '
    BEGIN { many["K"] = 1e3; many["M"] = 1e6; many["G"] = 1e9 }
    $1 == "malloc" && $2 == "count" { blocks = $4 in many ? $3 * many[$4] : $3 }
    END { if (blocks < least) { print "blocks of ours: " blocks + 0 ", not " least; exit 1 } }' "$1"
}

# What the program prints is the same with the library inserted, and so many blocks were ours.
same_output() {  # name blocks command...
  local name=$1 blocks=$2
  shift 2
  timeout 300 "${run[@]}" "$@" >"$name.plain" 2>"$name.log"
  timeout 300 "${inserted[@]}" MIMALLOC_SHOW_STATS=1 "${run[@]}" "$@" >"$name.ours" 2>"$name.stats"
  [ -s "$name.plain" ] && cmp "$name.plain" "$name.ours" && ours "$name.stats" "$blocks"
  outcome "program-$name" $?
}

# The check itself: it fails where the library has taken nothing, and where it is not there.
not_ours() {  # name command...
  local name=$1
  shift
  timeout 300 "${inserted[@]}" MIMALLOC_DISABLE_REDIRECT=1 MIMALLOC_SHOW_STATS=1 "${run[@]}" "$@" \
    >/dev/null 2>"$name.stats"
  grep -q '^process: ' "$name.stats" && ! ours "$name.stats" 10 && ! ours "$name.log" 10
  outcome "program-$name-not-ours" $?
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
  same_output lua 1000 ./program-lua
  not_ours lua ./program-lua
  same_output quickjs 1000 ./program-quickjs
  same_output sqlite 1000 ./program-sqlite
  same_output zstd 100 ./program-zstd
  same_output bzip2 10 ./program-bzip2 -kc9 vendor/libsqlite3-sys/sqlite3/sqlite3.c
else
  echo "skip programs: cargo cannot fetch their sources"
fi
