#!/usr/bin/env bash
# Gets and builds the allocators that ours is compared with.
#   peers.sh DIR [NAME...]
#
# Each peer becomes DIR/NAME.so, to be preloaded, and DIR/NAME.version, one line. If they are there,
# DIR/NAME.also names a library in DIR to be preloaded after it, and DIR/NAME.env holds one variable
# that it wants, NAME=VALUE. A peer that is there already is kept; remove it to build it again. One
# that cannot be had here is named, and left out; as long as its log, DIR/NAME.log, is there, it is
# not tried again. They come from the registries that cargo, pip and apt are set up for on this
# machine; nothing is installed. All are built as their makers build them by default.
#
# Exit status 0 also with peers left out; 2: wrong use.

set -u
shopt -s nullglob
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
jobs=${MI_JOBS:-$(nproc 2>/dev/null || echo 2)}

ALL="mimalloc3 mimalloc2 jemalloc snmalloc rpmalloc gperftools tbbmalloc scudo tcmalloc"
HARDENED="mimalloc3-secure snmalloc-checks"  # only when named

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
say() { printf 'peers: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
need() {  # commands
  local c
  for c in "$@"; do have "$c" || { echo "there is no $c"; return 1; }; done
}
version() { printf '%s\n' "$2" >"$dir/$1.version"; }

# ---- From crates.io ------------------------------------------------------------------------------

# Builds one crate in $work; its static libraries are then in $work/target/release/build/*/out.
build_crate() {  # crate version "features"
  need cargo cc || return
  mkdir -p "$work/src"
  : >"$work/src/lib.rs"
  cat >"$work/Cargo.toml" <<END
[package]
name = "peer"
version = "0.1.0"
edition = "2021"
[dependencies]
$1 = { version = "=$2", features = [$3] }
END
  (cd "$work" && CARGO_TARGET_DIR=$work/target cargo build --release --jobs "$jobs")
}

crate_source() {  # crate version: prints the folder
  local found=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$1-$2"*)
  [ ${#found[@]} -gt 0 ] && echo "${found[0]}"
}

crate_archive() {  # name.a: prints its path
  find "$work/target/release/build" -name "$1" -path '*/out/*' | head -n 1 | grep .
}

# Makes a shared library of all of a static one.
link_whole() {  # output archive libraries...
  local output=$1 archive=$2
  shift 2
  g++ -shared -o "$output" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive "$@"
}

get_mimalloc() {  # name version-of-mimalloc "features"
  need g++ && build_crate libmimalloc-sys2 0.1.65 "$3" || return
  link_whole "$dir/$1.so" "$(crate_archive libmimalloc.a)" -lpthread || return
  version "$1" "mimalloc $2 (crate libmimalloc-sys2 0.1.65)"
}
get_mimalloc3() { get_mimalloc mimalloc3 3.6.0 '"override", "v3"'; }
get_mimalloc3-secure() { get_mimalloc mimalloc3-secure "3.6.0, secure" '"override", "v3", "secure"'; }
get_mimalloc2() { get_mimalloc mimalloc2 2.5.2 '"override"'; }

get_jemalloc() {
  need g++ make && build_crate tikv-jemalloc-sys 0.7.1 \
    '"unprefixed_malloc_on_supported_platforms"' || return
  link_whole "$dir/jemalloc.so" "$(crate_archive libjemalloc_pic.a)" -lpthread -ldl -lm || return
  version jemalloc "jemalloc 5.3.1 (crate tikv-jemalloc-sys 0.7.1)"
}

# The crate's own library exports no malloc: its source is compiled again, with the overrides.
build_snmalloc() {  # name description compiler-options...
  local crate name=$1 description=$2
  shift 2
  need g++ cmake && build_crate snmalloc-sys 0.7.6 '"libc-api"' || return
  crate=$(crate_source snmalloc-sys 0.7.6) || return
  g++ -std=c++20 -O3 -DNDEBUG -DSNMALLOC_USE_WAIT_ON_ADDRESS=1 -fPIC -shared -mcx16 \
    -ftls-model=initial-exec -pthread "$@" -I"$crate/upstream/src" \
    "$crate/upstream/src/snmalloc/override/"{malloc,new}.cc -latomic -o "$dir/$name.so" || return
  version "$name" "snmalloc 0.7.6$description (crate snmalloc-sys 0.7.6)"
}
get_snmalloc() { build_snmalloc snmalloc ""; }
get_snmalloc-checks() { build_snmalloc snmalloc-checks " with checks" -DSNMALLOC_CHECK_CLIENT; }

get_rpmalloc() {  # as snmalloc
  local crate
  need gcc && build_crate rpmalloc-sys 0.2.3 '"preload"' || return
  crate=$(crate_source rpmalloc-sys 0.2.3) || return
  gcc -O3 -DNDEBUG -shared -fPIC -std=gnu11 -fvisibility=hidden -DENABLE_OVERRIDE=1 \
    -DENABLE_PRELOAD=1 "$crate/rpmalloc/rpmalloc/rpmalloc.c" -lpthread -ldl \
    -o "$dir/rpmalloc.so" || return
  version rpmalloc "rpmalloc 1.4.3 (crate rpmalloc-sys 0.2.3)"
}

# Google's. The crate builds it without malloc and its like, behind a bridge: the file that defines
# them is compiled again, and takes the bridge's place.
get_tcmalloc() {
  local crate out root include=() flags archive
  need g++ ar && build_crate libtcmalloc-sys 0.1.14 "" || return
  crate=$(crate_source libtcmalloc-sys 0.1.14)/c_src
  archive=$(crate_archive libtcmalloc.a) || return
  out=$(dirname "$archive")/patched_deps/c_src
  for root in "$out" "$crate"; do include+=(-I"$root/abseil-cpp" -I"$root/tcmalloc"); done
  flags="-std=c++17 -O2 -DNDEBUG -DNOMINMAX -DTCMALLOC_INTERNAL_8K_PAGES -fPIC -w"
  for root in "$out" "$crate"; do
    [ -e "$root/tcmalloc/tcmalloc/tcmalloc.cc" ] && break
  done
  # shellcheck disable=SC2086  # flags are words
  g++ $flags -fno-omit-frame-pointer "${include[@]}" -c "$root/tcmalloc/tcmalloc/tcmalloc.cc" \
    -o "$work/tcmalloc.o" || return
  cp "$archive" "$work/rest.a" || return
  ar t "$work/rest.a" | grep malloc_bridge | xargs ar d "$work/rest.a"
  link_whole "$dir/tcmalloc.so" "$work/rest.a" "$work/tcmalloc.o" -lpthread || return
  # Its caches of each processor need a kernel interface that the C library would take for itself.
  echo GLIBC_TUNABLES=glibc.pthread.rseq=0 >"$dir/tcmalloc.env"
  version tcmalloc "tcmalloc (Google's) of June 2025 (crate libtcmalloc-sys 0.1.14)"
}

# ---- From Debian and PyPI ------------------------------------------------------------------------

# Unpacks a Debian package into $work/root, without installing it.
unpack_package() {  # package
  need apt-get dpkg-deb || return
  (cd "$work" && { apt-get download "$1" || { apt-get update && apt-get download "$1"; }; }) &&
    dpkg-deb -x "$work/$1"_*.deb "$work/root"
}
package_version() { dpkg-deb -f "$work/$1"_*.deb Version; }

take() {  # name pattern: the first file below $work that matches becomes NAME.so
  local file
  file=$(find "$work" -path "$2" | sort | head -n 1)
  [ -n "$file" ] && cp -L "$file" "$dir/$1.so"
}

get_gperftools() {
  local package=libtcmalloc-minimal4
  unpack_package $package || { package+=t64 && unpack_package $package; } || return
  take gperftools '*/libtcmalloc_minimal.so.4' || return
  version gperftools "gperftools tcmalloc $(package_version $package) (Debian $package)"
}

# Two libraries: the first passes everything on to the second.
get_tbbmalloc() {
  local wheel source
  if python3 -m pip download --no-deps --only-binary=:all: -d "$work" tbb; then
    wheel=("$work"/tbb-*.whl)
    python3 -m zipfile -e "${wheel[0]}" "$work/root" || return
    source=$(basename "${wheel[0]}" | cut -d - -f 2)
    source="$source (PyPI tbb)"
  else
    unpack_package libtbbmalloc2 || return
    source="$(package_version libtbbmalloc2) (Debian libtbbmalloc2)"
  fi
  take tbbmalloc '*/libtbbmalloc_proxy.so.2*' || return
  cp -L "$(find "$work" -path '*/libtbbmalloc.so.2' | head -n 1)" "$dir/" || return
  echo libtbbmalloc.so.2 >"$dir/tbbmalloc.also"
  version tbbmalloc "tbbmalloc $source"
}

get_scudo() {
  local name found
  name=libclang_rt.scudo_standalone-$(uname -m).so
  found=(/usr/lib/llvm-19/lib/clang/*/lib/linux/"$name")
  if [ ${#found[@]} -gt 0 ]; then
    cp "${found[0]}" "$dir/scudo.so" || return
  else
    unpack_package libclang-rt-19-dev && take scudo "*/$name" || return
  fi
  version scudo "scudo of LLVM 19 (Debian libclang-rt-19-dev)"
}

# ---- All of them ---------------------------------------------------------------------------------

# Runs a program on a peer that finds out whose its malloc is.
verify() {  # name
  local whose preload=$dir/$1.so
  [ -e "$dir/$1.also" ] && preload+=:$dir/$(<"$dir/$1.also")
  # shellcheck disable=SC2046  # at most one word
  whose=$(env $(cat "$dir/$1.env" 2>/dev/null) LD_PRELOAD="$preload" "$dir/whose" 2>&1) || { echo "$whose"; return 1; }
  case $whose in
    "$dir"/*) ;;
    *) echo "malloc comes from $whose"; return 1 ;;
  esac
}

get() {  # name
  local work=$dir/work/$1 log=$dir/$1.log
  [ -e "$dir/$1.so" ] && [ -e "$dir/$1.version" ] && return
  if [ "$log" -nt "${BASH_SOURCE[0]}" ]; then
    say "$1: left out, as before: see $log"
    return
  fi
  say "$1: getting and building it"
  rm -rf "$work" "$dir/$1".{so,version,also,env} && mkdir -p "$work"
  if ! "get_$1" >"$log" 2>&1 </dev/null; then
    say "$1: left out: $(tail -n 1 "$log") (see $log)"
  elif ! verify "$1" >>"$log" 2>&1; then
    say "$1: left out: does not work: $(tail -n 1 "$log") (see $log)"
  else
    rm -rf "$work" "$log"
    return
  fi
  rm -rf "$work" "$dir/$1".{so,version,also,env}
}

[ $# -gt 0 ] || usage
mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
shift
cc=${CC:-cc}
have "$cc" || { say "there is no C compiler: no peers but the system's"; exit 0; }
"$cc" -O1 -fno-builtin -o "$dir/whose" "$here/whose.c" -ldl -pthread || exit 1

# shellcheck disable=SC2086  # a list of words
[ $# -gt 0 ] || set -- $ALL
for name in "$@"; do
  case " $ALL $HARDENED " in
    *" $name "*) get "$name" ;;
    *) say "there is no peer $name; there are: $ALL $HARDENED"; exit 2 ;;
  esac
done
