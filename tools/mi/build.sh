#   ./mi build [VARIANT]    builds all of one variant, into build/

mi_build() {
  local preset=release
  case ${1:-} in
    '') ;;
    --debug | --secure | --guarded) preset=${1#--} ;;
    *) die "build has no option $1; see ./mi help" 2 ;;
  esac
  root_for_preload
  need_tools test
  configure "$preset" && build "$preset" || exit 1
  say "mi: built in build/$preset"
}
