#   ./mi clean              removes build/

mi_clean() { rm -rf "$root/build"; }
