#!/bin/sh
# What each mitigation of the secure builds costs: the library is built with each switched off in
# turn (see src/base/modes.h) and runs one program that allocates much. Prints, per variant,
# instructions (valgrind), peak memory, page faults and mappings at the end.
#   bench/prices.sh [WORK-FOLDER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${1:-$(mktemp -d)}
cc=${CC:-cc}

build() {  # name, options
  name=$1; shift
  # shellcheck disable=SC2046  # a list of options
  "$cc" -std=c11 -O3 -DNDEBUG -DMI_MALLOC_OVERRIDE=1 "$@" -shared -fPIC -fvisibility=hidden \
    -fno-semantic-interposition -ftls-model=initial-exec -fno-builtin-malloc -fexceptions \
    "$root/src/static.c" -o "$work/$name.so" -pthread
}

program='my %h; for my $i (1..60000) { $h{"key$i"} = "value " x ($i % 7); } my $n = 0;
for (sort keys %h) { $n += length $h{$_}; } for my $i (1..30000) { delete $h{"key$i"} }
my $big = "x" x 3000000; $big .= $big; print $n;
open(my $m, "<", "/proc/self/maps"); my @l = <$m>; print STDERR "mappings ", scalar(@l), "\n"'

measure() {  # name
  instructions=$(LD_PRELOAD=$work/$1.so valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    perl -e "$program" 2>&1 >/dev/null | awk '/Collected/ { print $4 }')
  LD_PRELOAD=$work/$1.so "$work/usage" perl -e "$program" >/dev/null 2>"$work/out"
  awk -v name="$1" -v i="$instructions" '/^mappings/ { m = $2 } /^usage/ { k = $2; f = $3 }
    END { printf "| %s | %.1f M | %d KiB | %d | %d |\n", name, i / 1e6, k, f, m }' "$work/out"
}

cat >"$work/usage.c" <<'C'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct rusage u;
  if (argc < 2) { return 2; }
  if (fork() == 0) { execvp(argv[1], argv + 1), _exit(127); }
  wait(NULL);
  getrusage(RUSAGE_CHILDREN, &u);
  fprintf(stderr, "usage %ld %ld\n", u.ru_maxrss, u.ru_minflt);
  return 0;
}
C
"$cc" -O1 "$work/usage.c" -o "$work/usage"

echo "| build | instructions | peak memory | page faults | mappings |"
echo "|---|---|---|---|---|"
build release -DMI_SECURE=0
measure release
build ON -DMI_SECURE=4
measure ON
for off in CHECK_FREE GUARD_PAGES GUARD_FREED LINKS_APART CHECK_STATE CANARY REUSE_LATER \
           RANDOM_ORDER RANDOM_PLACE; do
  build "ON-without-$off" -DMI_SECURE=4 "-DMI_$off=0"
  measure "ON-without-$off"
done
build FULL -DMI_SECURE=5
measure FULL
for off in ZERO_FREED CHECK_REUSE QUARANTINE KEEP_CLASS; do
  build "FULL-without-$off" -DMI_SECURE=5 "-DMI_$off=0"
  measure "FULL-without-$off"
done
