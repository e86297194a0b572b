# shellcheck shell=bash disable=SC2154  # `root` is the project's folder
# What the first line of a test says (cmake/directives.cmake), for scripts that build the tests for
# other systems.

directive() {  # file name
  sed -n "1s/.* $2=\"\([^\"]*\)\".*/\1/p" "$1"
}

# The C tests of some folders that a build of these kinds has, as `when` has it, one FOLDER/NAME a
# line, without those that start themselves again.
tests_of() {  # kinds folders...
  local kinds=" $1 " folder file word
  [[ $kinds == *" small "* ]] || kinds+='whole '
  shift
  for folder in "$@"; do
    for file in "$root/test/$folder"/*.c; do
      sed -n 1p "$file" | grep -q ' runs-itself ' && continue
      for word in $(directive "$file" when); do
        [[ $kinds =~ \ ($word)\  ]] || continue 2
      done
      echo "$folder/$(basename "$file" .c)"
    done
  done
}
