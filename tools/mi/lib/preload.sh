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

# Tests and measurements name files of the tree in LD_PRELOAD and the like, where spaces and colons
# divide. A tree with such a path is worked on through a link, in a folder of our own. The link
# stays until ./mi clean, as what was built names it.
root_for_preload() {
  local note=$root/build/.link folder
  is_divided "$root" || return 0
  folder=$(cat "$note" 2>/dev/null)
  if ! { [ -O "$folder" ] && [ "$folder/tree" -ef "$root" ]; }; then
    # Under the name of last time, where it is free: then nothing has to be built again.
    if ! { [ -n "$folder" ] && mkdir -m 700 "$folder" 2>/dev/null; }; then
      folder=$(mktemp -d) || exit 1
    fi
    if is_divided "$folder"; then
      rmdir "$folder"
      die "the paths of the tree and of temporary files have a space or colon; set TMPDIR: $folder"
    fi
    mkdir -p "$root/build" && ln -s "$root" "$folder/tree" && echo "$folder" >"$note" || exit 1
  fi
  say "mi: the tree's path has a space or colon: it is worked on as $folder/tree"
  root=$folder/tree
}

# Removes that link.
forget_root_for_preload() {
  local folder
  folder=$(cat "$root/build/.link" 2>/dev/null) || return 0
  [ -O "$folder" ] && [ "$folder/tree" -ef "$root" ] && rm "$folder/tree" && rmdir "$folder"
}

is_divided() { case $1 in *[[:space:]:\;]*) ;; *) return 1 ;; esac }  # path

# A program without a dynamic loader does not look at LD_PRELOAD.
warn_if_static() {  # path
  have readelf && readelf -h "$1" >/dev/null 2>&1 || return 0
  readelf -lW "$1" 2>/dev/null | grep -q INTERP ||
    say "mi: $1 is statically linked: it keeps its own allocator"
}
