# What run and trace have in common: options of both, and how a program is made to load a library.
# A part of ./mi.

runs_max=1000

# Sets `runs` for --compare [RUNS], and `taken`, how many words that is.
read_compare() {  # the words from --compare on
  runs=5 taken=1
  [[ ${2:-} =~ ^[0-9]+$ ]] || return 0
  taken=2 runs=$2
  [ "$runs" -ge 1 ] 2>/dev/null && [ "$runs" -le $runs_max ] ||
    die "--compare takes 1 to $runs_max runs, not $runs" 2
}

# Sets `preload`, what LD_PRELOAD has to say for this library. A path with a space cannot be said
# there, but its folder can be in LD_LIBRARY_PATH.
find_preload() {  # library
  case $1 in
    *[:\;]*) die "LD_PRELOAD cannot name a path with a colon or semicolon: $1" ;;
    *[[:space:]]*)
      export LD_LIBRARY_PATH=${1%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      preload=${1##*/} ;;
    *) preload=$1 ;;
  esac
}

# A program without a dynamic loader does not look at LD_PRELOAD.
warn_if_static() {  # path
  have readelf && readelf -h "$1" >/dev/null 2>&1 || return 0
  readelf -lW "$1" 2>/dev/null | grep -q INTERP ||
    say "mi: $1 is statically linked: it keeps its own allocator"
}
