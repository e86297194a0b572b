# Completion of `mi` for bash: of the installed tool, and of ./mi in a source tree, which has more
# subcommands. Those are asked of the tool: its help names each in a line of its own.
_mi() {
  local word=${COMP_WORDS[COMP_CWORD]} tool=${COMP_WORDS[0]} i subcommands
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    subcommands=$("$tool" help 2>/dev/null | sed -n 's|^ *\(\./\)\{0,1\}mi \([a-z]*\).*|\2|p' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$subcommands" -- "$word")
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do  # behind the options there is a command of its own
    case ${COMP_WORDS[i]} in
      -*) [ "${COMP_WORDS[i]}" != -- ] || { _mi_command $((i + 1)); return; } ;;
      *) [ "${COMP_WORDS[1]}" != run ] || { _mi_command "$i"; return; } ;;
    esac
  done
  case ${COMP_WORDS[1]} in
    run) mapfile -t COMPREPLY < <(compgen -c -W '--stats --debug --secure --guarded --' -- "$word") ;;
    library | build) mapfile -t COMPREPLY < <(compgen -W '--debug --secure --guarded' -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}

# With bash-completion's own functions, that command is completed as it would be by itself.
_mi_command() {  # index of its first word
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$1" = "$COMP_CWORD" ]; then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}
complete -F _mi mi ./mi
