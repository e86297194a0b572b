#   ./mi trace record FILE -- PROGRAM ARGS...
#       Runs PROGRAM on the system's allocator and records what it allocates, into FILE. %p in FILE
#       becomes the process id, and each program that PROGRAM runs is recorded too.
#   ./mi trace summary FILE
#       Prints what a recording holds: operations, threads, sizes, peak.
#   ./mi trace replay [--compare [RUNS]] [VARIANT] [--touch none|first|pages] FILE
#       Replays a recording on this allocator; --compare: as with run. See bench/trace/README.md.
#       summary and replay: --partial takes what there is of a recording that was cut off.

build_trace() {
  build_tool trace/record.so bench/trace/record.c -shared -fPIC -fno-builtin -pthread -ldl
  build_tool trace/resolve bench/trace/resolve.c
  build_tool trace/replay bench/trace/replay.c -fno-builtin -pthread
}

# The program's own exit status is kept.
trace_record() {
  local file=${1:-} program preload status=0
  [ $# -gt 1 ] || die "which? ./mi trace record FILE -- PROGRAM ARGS..." 2
  shift
  [ "$1" != -- ] || shift
  [ $# -gt 0 ] || die "which program? ./mi trace record FILE -- PROGRAM ARGS..." 2
  program=$(type -P -- "$1") || die "$1: no such program" 127
  warn_if_static "$program"
  find_preload "$root/build/trace/record.so"
  if [ -n "${file##*%p*}" ]; then rm -f -- "$file" || exit 1; fi
  # By env, as some words would be commands of this shell.
  env MI_TRACE_FILE="$file" LD_PRELOAD="$preload${LD_PRELOAD:+:$LD_PRELOAD}" "$@" || status=$?
  [ -n "$(compgen -G "${file//%p/*}")" ] || say "mi: nothing was recorded: $file"
  exit $status
}

trace_replay() {
  local preset=release runs=0 taken library preload prepared touch=() partial=()
  while [ $# -gt 0 ]; do
    case $1 in
      --compare) read_compare "$@"; shift $((taken - 1)) ;;
      --debug | --secure | --guarded) preset=${1#--} ;;
      --touch) touch=(--touch "${2:-}"); [ $# = 1 ] || shift ;;
      --partial) partial=(--partial) ;;
      -*) die "trace replay has no option $1; see ./mi help" 2 ;;
      *) break ;;
    esac
    shift
  done
  [ $# = 1 ] || die "which recording? ./mi trace replay [OPTIONS] FILE" 2
  library=$(library_of "$preset")
  build_library "$preset"
  prepared=$(mktemp "${TMPDIR:-/tmp}/mi-trace.XXXXXX") || exit 1
  if ! "$root/build/trace/resolve" ${partial[@]+"${partial[@]}"} prepare "$1" "$prepared"; then
    rm -f "$prepared"
    exit 1
  fi
  exec {prepared_fd}<"$prepared"  # lives as long as someone has it open
  rm -f "$prepared"
  set -- "$root/build/trace/replay" ${touch[@]+"${touch[@]}"} "/proc/self/fd/$prepared_fd"
  [ "$runs" = 0 ] || build_measure
  find_preload "$library"
  if [ "$runs" != 0 ]; then exec "$root/build/measure" "$runs" "$preload" "$@"; fi
  LD_PRELOAD=$preload exec "$@"
}

mi_trace() {
  local action=${1:-}
  [ $# = 0 ] || shift
  case $action in
    record | replay | summary) build_trace ;;
    *) die "trace what? record, summary or replay; see ./mi help" 2 ;;
  esac
  case $action in
    record) trace_record "$@" ;;
    replay) trace_replay "$@" ;;
    summary)
      local partial=()
      if [ "${1:-}" = --partial ]; then partial=(--partial); shift; fi
      [ $# = 1 ] || die "which recording? ./mi trace summary [--partial] FILE" 2
      exec "$root/build/trace/resolve" ${partial[@]+"${partial[@]}"} summary "$1" ;;
  esac
}
