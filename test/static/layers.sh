#!/bin/sh
# test: when="release gcc" timeout=300
# Checks the ladder: a folder of src/ uses only folders below its own. (Folders are whole rungs, so
# a cycle between files of different folders has an upward edge in it.) Each file is compiled alone,
# with MI_SPLIT, under every compiler at hand and without a warning; then the symbols that it needs
# are looked up in the files that define them. #includes must not lead upward either,
# and only base/, port/ and entry/ ask the compiler about the system. Within a folder no files use
# each other in a circle, but for the knots that are listed here.
# Test ports are compiled with what asks for them; all ports define the same names.
#   layers.sh [anything]      prints each offence; exit status 1 if there is one
ladder='base port service memory page heap alloc api entry'
# Each line is the files of one knot. In heap/ a free may make its thread the owner of a page, for
# which it may need a theap; a theap that begins or ends meets its pages, rows, rations and
# quarantine, whose blocks go where frees go. In alloc/ the first request of a thread, and that of one
# that has ended, is served by its alignment, and each aligned request by its size.
knots='
heap/guard.c heap/heap.c heap/keep.c heap/pool.c heap/process.c heap/quarantine.c heap/ration.c heap/return.c heap/row.c heap/theap.c heap/thread.c
alloc/aligned.c alloc/malloc.c
'
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$source/src" || exit 2
bad=0
offence() { echo "layers: $*"; bad=1; }

rung() {  # path below src/
  n=0
  for folder in $ladder; do
    case $1 in "$folder"/*) echo $n; return ;; esac
    n=$((n + 1))
  done
}

files=$(find . -mindepth 2 -name '*.[ch]' | sed 's|^\./||' | sort)
for file in $files; do
  [ -n "$(rung "$file")" ] || offence "src/$file is in no folder of the ladder: $ladder"
done
[ $bad = 0 ] || exit 1

# ---- #includes -----------------------------------------------------------------------------------

for file in $files; do
  # shellcheck disable=SC2013  # no file name of ours has a space
  for included in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
    path=$(cd "$(dirname "$file")" && realpath -m --relative-to="$source/src" "$included")
    case $path in
      ../include/*) continue ;;
      ../*) offence "src/$file includes $path, from outside src/ and include/"; continue ;;
    esac
    if [ "$(rung "$path")" -gt "$(rung "$file")" ]; then
      offence "src/$file includes src/$path, from a rung above"
    fi
  done
done

# ---- platforms ------------------------------------------------------------------------------------

platform='linux|GLIBC|_WIN32|APPLE|BSD|DragonFly|__sun|wasm|EMSCRIPTEN|HAIKU|CYGWIN|ANDROID|BIONIC|__ELF__'
for file in $files; do
  case $file in base/* | port/* | entry/*) continue ;; esac
  grep -nE "^ *# *(el)?if.*($platform)" "$file" >"$work/asks" || continue
  offence "src/$file asks about the system, outside base/, port/ and entry/: $(cat "$work/asks")"
done

# Compilers differ in base/ alone, but for what is Windows' or macOS' own.
for file in $files; do
  case $file in base/* | *windows* | *darwin*) continue ;; esac
  grep -nE '__attribute__|__declspec|^ *# *(el)?if.*(__clang__|__GNUC__|_MSC_VER)' "$file" >"$work/asks" ||
    continue
  offence "src/$file has words of one compiler, outside base/: $(cat "$work/asks")"
done

# ---- warnings, and objects to read symbols from --------------------------------------------------

compilers=$cc
for clang in clang-19 clang; do
  if command -v $clang >/dev/null && [ "$cc" != "$clang" ]; then
    compilers="$compilers $clang"
    break
  fi
done

port_of() {  # path below src/: the option that asks for the port that the file belongs to
  case $1 in
    port/unix*.c | port/solaris.c) echo -DMI_PORT_UNIX=1 ;;
    port/strict*.c) echo -DMI_PORT_STRICT=1 ;;
    port/grow*.c | memory/growing.c) echo -DMI_PORT_GROW=1 ;;
  esac
}

# Some ports need headers that are not this system's: they are for ./mi cross.
sources=$(echo "$files" | grep '\.c$' | grep -v -e '^port/bsd\.c$' -e '^port/darwin' -e '^port/wasm' -e /windows)
for compiler in $compilers; do
  for file in $sources; do
    # shellcheck disable=SC2046  # a list of options
    "$compiler" -std=c11 -O1 -c -DMI_SPLIT -DMI_MALLOC_OVERRIDE=1 -fvisibility=hidden \
      -fno-builtin-malloc -fexceptions $(cat "$source/cmake/warnings.txt") -Werror \
      $(port_of "$file") -o "$work/$(echo "$file" | tr / +).o" "$file" ||
      offence "src/$file does not compile alone under $compiler"
  done
  [ $bad = 0 ] || exit 1
done

# ---- symbols -------------------------------------------------------------------------------------

for file in $sources; do
  nm -P "$work/$(echo "$file" | tr / +).o" | awk -v file="$file" -v rung="$(rung "$file")" '
    $2 ~ /^[TDBRVWC]$/ { print "defines", $1, file, rung }
    $2 ~ /^[Uw]$/      { print "needs", $1, file, rung }'
done >"$work/symbols"

if ! awk '
  $1 == "defines" && ($2 in home) && !(home[$2] ~ /^port\// && $3 ~ /^port\//) {
    printf "layers: %s is defined in src/%s and in src/%s\n", $2, home[$2], $3
    bad = 1
  }
  $1 == "defines" { home[$2] = $3; rung[$2] = $4 }
  $1 == "needs"   { need[++n] = $2; user[n] = $3; from[n] = $4 }
  END {
    for (i = 1; i <= n; i++) {
      s = need[i]
      if ((s in home) && rung[s] > from[i]) {
        printf "layers: src/%s uses %s, of src/%s, from a rung above\n", user[i], s, home[s]
        bad = 1
      }
    }
    exit bad
  }' "$work/symbols"; then
  bad=1
fi
if ! awk -v knots="$knots" '
  BEGIN {
    count = split(knots, line, "\n")
    for (k = 1; k <= count; k++) {
      files = split(line[k], file, " ")
      for (i = 1; i <= files; i++) { knot[file[i]] = k }
    }
  }
  $1 == "defines" && !($3 ~ /^port\//) { home[$2] = $3 }
  $1 == "needs" { need[++n] = $2; user[n] = $3 }
  END {
    for (i = 1; i <= n; i++) {
      to = home[need[i]]
      if (to != "" && to != user[i]) { reaches[user[i], to] = 1; node[user[i]]; node[to] }
    }
    for (via in node) {
      for (a in node) {
        if (!((a, via) in reaches)) { continue }
        for (b in node) { if ((via, b) in reaches) { reaches[a, b] = 1 } }
      }
    }
    for (a in node) {
      for (b in node) {
        circle = a != b && (a, b) in reaches && (b, a) in reaches
        listed = a != b && knot[a] != "" && knot[a] == knot[b]
        if (circle && !listed && a < b) {
          printf "layers: src/%s and src/%s use each other, perhaps by way of others\n", a, b
          bad = 1
        }
        if (listed && !circle && a < b) {
          printf "layers: src/%s and src/%s do not use each other, but are listed so\n", a, b
          bad = 1
        }
      }
    }
    exit bad
  }' "$work/symbols"; then
  bad=1
fi
[ $bad = 0 ] && echo "layers: $(echo "$sources" | wc -l) files, no upward edge, no circle but what is listed"
exit $bad
