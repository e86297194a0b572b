#   ./mi run [--stats] [VARIANT] -- PROGRAM ARGS...
#       Runs PROGRAM on this allocator. --stats: prints statistics when it ends. One for Windows
#       (x64) runs under wine, as a copy beside it that loads mimalloc.dll.
#   ./mi run --compare [RUNS] [VARIANT] -- PROGRAM ARGS...
#       Runs it with the system's allocator and with this one, RUNS times each (5), in turn, and
#       prints the medians of time, memory and page faults. Only the first run's output is shown.

mi_run() {
  local preset=release stats=no runs=0 taken program library preload
  while [ $# -gt 0 ]; do
    case $1 in
      --stats) stats=yes ;;
      --compare) read_compare "$@"; shift $((taken - 1)) ;;
      --debug | --secure | --guarded) preset=${1#--} ;;
      --) shift; break ;;
      -*) die "run has no option $1; see ./mi help" 2 ;;
      *) break ;;
    esac
    shift
  done
  [ $# -gt 0 ] || die "which program? ./mi run [OPTIONS] -- PROGRAM ARGS..." 2
  [ $stats = no ] || [ "$runs" = 0 ] || die "--stats and --compare do not go together" 2
  program=$(type -P -- "$1")
  # One for Windows need not be executable here.
  if is_windows_program "${program:-$1}"; then
    if [ "$preset" != release ] || [ "$runs" != 0 ]; then
      die "under wine there is --stats alone" 2
    fi
    [ $stats = no ] || export MIMALLOC_SHOW_STATS=1
    run_in_wine "${program:-$1}" "${@:2}"
  fi
  [ -n "$program" ] || die "$1: no such program" 127
  library=$(library_of "$preset")
  build_library "$preset"
  warn_if_static "$program"
  [ "$runs" = 0 ] || build_measure
  find_preload "$library"
  if [ "$runs" != 0 ]; then exec "$root/build/measure" "$runs" "$preload" "$@"; fi
  [ $stats = no ] || export MIMALLOC_SHOW_STATS=1
  export LD_PRELOAD="$preload${LD_PRELOAD:+:$LD_PRELOAD}"
  exec -- "$@"
}
