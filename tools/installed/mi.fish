# Completion of `mi` for fish; the subcommands are asked of the tool, see mi.bash.
function __mi_subcommands
    set -l tool (commandline -opc)[1]
    $tool help 2>/dev/null | string replace -rf '^ *(?:\./)?mi ([a-z]+).*' '$1' | sort -u
end
complete -c mi -f -n __fish_use_subcommand -a '(__mi_subcommands)'
complete -c mi -n '__fish_seen_subcommand_from run' -l stats -d 'print statistics at the end'
complete -c mi -n '__fish_seen_subcommand_from run library build' -l debug -d 'with checks'
complete -c mi -n '__fish_seen_subcommand_from run library build' -l secure -d 'the hardened build'
complete -c mi -n '__fish_seen_subcommand_from run library build' -l guarded -d 'the build that samples with guards'
complete -c mi -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand --fcs-skip=2)'
