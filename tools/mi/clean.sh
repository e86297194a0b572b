#   ./mi clean              removes build/

mi_clean() {
  forget_root_for_preload
  rm -rf "$root/build"
}
