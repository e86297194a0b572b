#   ./mi bench [--quick] [OPTIONS...]
#       Compares the allocator with its peers, on stress patterns and on real programs; the peers
#       are built first. OPTIONS: see ./mi bench --help and bench/README.md. Instead of all that,
#       --bars checks what the allocator is held to, --micro counts instructions and cache misses of
#       one malloc and free, --sweep times replacement over live sets from 10 KiB to 1 GiB,
#       --latency shows how long the slowest take, --threads 1,2,4 how threads scale.

build_bench() {
  build_library release
  need_tools test
  if ! { configure release && build release --target bench; }; then
    die "the benchmark programs do not build"
  fi
}

# What peers are built with, what counts instructions, what draws, and the programs to be run.
install_for_bench() {  # options...
  local list=()
  have cargo || list+=(cargo)
  have g++ || list+=(g++)
  have valgrind || list+=(valgrind)
  python3 -c 'import ensurepip, pip' 2>/dev/null || list+=(python3-pip python3-venv)
  # shellcheck disable=SC2046  # a list of words
  install_missing ${list[@]+"${list[@]}"} $(python3 "$root/bench/run.py" --packages "$@")
}

mi_bench() {
  local preset
  have python3 || apt_install python3 || die "bench needs python3"
  case " $* " in
    *" --help "* | *" -h "* | *" --list "* | *" --report"*) ;;
    *)
      root_for_preload
      install_for_bench "$@"
      build_bench
      for preset in $(python3 "$root/bench/run.py" --presets "$@"); do build_library "$preset"; done ;;
  esac
  exec python3 "$root/bench/run.py" "$@"
}
