# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_narrows_global_optspecs
    string join \n json archive= color= h/help V/version
end

function __fish_narrows_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_narrows_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_narrows_using_subcommand
    set -l cmd (__fish_narrows_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c narrows -n "__fish_narrows_needs_command" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_needs_command" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_needs_command" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "check" -d 'Inspect, measure, diagnose: how fast is this storage, and what limits it?'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "runs" -d 'The archive of runs: list, show, verify, recover, reindex, tag, delete'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "report" -d 'Write the self-contained page of a run'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "export" -d 'Runs in other tools\' formats: fio\'s JSON and logs, CSV, HdrHistogram logs, iozone\'s table'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "explain" -d 'The page of a finding: what it means, how to mend it, how to undo that'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "workloads" -d 'The built-in workloads: list them, or print the text of one'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l budget -d 'How long it may take, layout included (60s, 2m, 1h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand check" -l destroy -d 'Allow writing to the block device TARGET with this serial number (or name, if it has none): its content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "list" -d 'All runs, newest last'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "show" -d 'One run: its card, or with --json all of it'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "verify" -d 'Check bundles against their SHA256SUMS (exit 1 if one was altered)'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "recover" -d 'Turn what a crash or SIGKILL left behind into runs marked truncated'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "reindex" -d 'Rebuild index.jsonl from the bundles'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "tag" -d 'Give a run a tag, or list tags'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "delete" -d 'Delete runs with their pages and tags'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -l markdown -d 'The card as Markdown, for an issue or a forum'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from verify" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from verify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from verify" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from recover" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from recover" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from recover" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from recover" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from reindex" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from reindex" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from reindex" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -s d -l delete -d 'Remove the tags instead'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from tag" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand report" -s o -l output -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand report" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand report" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand report" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand report" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand export" -s f -l format -d 'Which format' -r -f -a "fio-json\t'fio 3.33\'s JSON; each executed phase is a job. Into a directory: a document for each measured phase'
fio-json+\t'The same with every bucket of the histograms (fio\'s json+)'
fio-logs\t'fio\'s bandwidth, IOPS and latency logs, one directory'
csv\t'A line for each metric of one or many runs'
hlog\t'HdrHistogram interval log, a line for each phase'
iozone\t'iozone\'s table, from a run that measured record sizes and operations'"
complete -c narrows -n "__fish_narrows_using_subcommand export" -s o -l output -d 'Where it goes: a file, or a directory for formats of several files [default: stdout]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand export" -l phase -d 'Only this phase; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand export" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand export" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand export" -l keep-refused -d 'Give the numbers of refused phases as well, still marked as refused'
complete -c narrows -n "__fish_narrows_using_subcommand export" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand export" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand explain" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand explain" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand explain" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -f -a "list" -d 'All workloads with the question that each answers'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and not __fish_seen_subcommand_from list show" -f -a "show" -d 'The text of a workload'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from show" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from show" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand workloads; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand completions" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand completions" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand completions" -s V -l version -d 'Print version'
