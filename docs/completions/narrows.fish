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
complete -c narrows -n "__fish_narrows_needs_command" -f -a "inspect" -d 'The storage path layer by layer, with each layer\'s ceiling, and what is known to be wrong with it'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "run" -d 'Execute a workload (a built-in one, a TOML text, a fio job file) or an experiment'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "tune" -d 'Undo settings that an experiment left changed on this machine'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "why" -d 'The layer that limits a run, what that rests on, and what would decide it'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "watch" -d 'iostat and dstat in one: every layer of a storage path, since boot first, then interval by interval'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "compare" -d 'Did it help, did it hurt anything? A verdict for each metric'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "rank" -d 'Many targets side by side; which metric predicts what matters'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "runs" -d 'The archive of runs: list, show, verify, recover, reindex, tag, delete'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "report" -d 'Write the self-contained page of a run'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "export" -d 'Runs in other tools\' formats: fio\'s JSON and logs, CSV, HdrHistogram logs, iozone\'s table'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "import" -d 'Other tools\' outputs as runs: fio, bonnie++, iozone, iostat, dstat, dd, hdparm, CSV'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "explain" -d 'The page of a finding: what it means, how to mend it, how to undo that'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "workloads" -d 'The built-in workloads: list them, or print the text of one'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l budget -d 'How long it may take, layout included (60s, 2m, 1h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l for -d 'Whether the storage is good for a use: etcd, postgres, sqlite, root-fs, vm-images, A1, A2, video=V30, record=4x16Mbit (narrows explain for-etcd); only what decides it is measured, and it exits with 1 for no' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l max-write -d 'The most that may be written [default: the larger of twice the layout and 2 GiB, but no more than 2 % of the device or 256 MiB]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand check" -l keep-every -d 'How often series and samples go to the archive while a phase runs, also where that lies on the measured disk; 0s: only when it has ended [default: 60s, and on the measured disk when it has ended]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l destroy -d 'Allow writing to the block device TARGET with this serial number (a partition: SERIAL-partN; an NVMe namespace: its own id; a device that has none: its name): its content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l read-only -d 'Write nothing: only what reading tells is measured'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l exhaust -d 'Write as much as the time allows, until write caches have run out: wears flash'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l plan -d 'Show what would be done, and how much it writes at most, without doing it'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l read-registers -d 'Read the few device registers that are known to hold a cause, as root, before anything is measured; even a read can hang a machine'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l root -d 'Read a captured tree instead of this machine' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l capture -d 'Write all that is read into an archive that can be replayed with --root; - is stdout' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l keep-serials -d 'Leave serial numbers, UUIDs and names of the machine in the capture as they are'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l read-registers -d 'Read the few device registers that are known to hold a cause, as root; even a read can hang a machine'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l set -d 'Another value for a key of all jobs (PHASE.KEY for one phase), or for an option of a fio job file' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l on-error -d 'What a failed operation does [default: as the workload says, else stop]' -r -f -a "stop\t'The phase ends, and its numbers are refused'
continue\t'It is counted by its errno, and the phase goes on: its numbers are partial'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l format -d 'Print the run in another tool\'s format instead of its summary' -r -f -a "fio-json\t'fio 3.33\'s JSON'
fio-json+\t'The same with every bucket of the histograms (fio\'s json+)'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand run" -l keep-every -d 'How often series and samples go to the archive while a phase runs, also where that lies on the measured disk; 0s: only when it has ended [default: 60s, and on the measured disk when it has ended]' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l destroy -d 'Allow writing to the block device TARGET with this serial number (a partition: SERIAL-partN; an NVMe namespace: its own id; a device that has none: its name): its content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l resume -d 'Go on with an experiment in the order that was drawn: this execution of it, else the last one that is not complete' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l plan -d 'Print the resolved plan instead of executing it'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l lenient -d 'Leave out what a fio job file asks for and is not supported, and say so in the run'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read-registers -d 'Read the few device registers that are known to hold a cause, as root, before anything is measured; even a read can hang a machine'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l calibrate -d 'Run the first arm of an experiment under two names: what differs is noise, and is kept as this rig\'s noise floor'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l restore -d 'Undo what an experiment changed on this machine and could not undo itself (a crash, a power cut), and end'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l allow-commands -d 'Run the commands in an experiment\'s text without asking; without a terminal there is nobody to ask'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand run" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l list -d 'Show what can be set on the path to a directory, a file, a device or a disk\'s name' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l restore -d 'Undo what an experiment changed on this machine and could not undo itself; commands are shown before they run'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l destroy -d 'Allow writing to the block device TARGET with this serial number (a partition: SERIAL-partN; an NVMe namespace: its own id; a device that has none: its name): its content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand why" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand why" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand why" -l confirm -d 'Run the measurement that decides the first cause, on the run\'s target, and say what came out'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l read-registers -d 'Read the few device registers that are known to hold a cause, as root, before anything is measured; even a read can hang a machine'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand why" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand watch" -s i -l interval -d 'Time between rows (500ms, 1s, 1m)' -r
complete -c narrows -n "__fish_narrows_using_subcommand watch" -s n -l count -d 'End after so many rows, the first included' -r
complete -c narrows -n "__fish_narrows_using_subcommand watch" -l csv -d 'CSV instead of a table' -r -f -a "narrows\t'Ours: a line for each layer and interval, units in the names'
iostat\t'Those of iostat -x; kB are KiB, as there'
dstat\t'Those of dstat -T -tcdry, a line for each interval'"
complete -c narrows -n "__fish_narrows_using_subcommand watch" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand watch" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand watch" -l live -d 'Full screen with sparklines, on a terminal'
complete -c narrows -n "__fish_narrows_using_subcommand watch" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand watch" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l margin -d 'The largest difference that does not matter, per cent, of all metrics or of one [default: 5; tails 10]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l alpha -d 'Error rate over all primary metrics together [default: 0.05]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l primary -d 'A metric that is asked; may be given several times [default: the rate of each phase]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l fail-on -d 'Exit code 1 if a primary metric is so' -r -f -a "worse\t'A primary metric is worse'"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s o -l output -d 'Write a self-contained page' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l markdown -d 'The comparison as Markdown, for an issue or a forum'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l identify -d 'Keep the names and serial numbers of the machines and their users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l predict -d 'The metric that matters: which others put the targets in its order?' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l predictors -d 'What it may be predicted from; may be given several times [default: all other metrics]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l metric -d 'What is shown side by side; may be given several times [default: all, of many the rate of each phase]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l better -d 'Whether more or less of a metric is better, where its source does not tell; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s o -l output -d 'Write a self-contained page' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l markdown -d 'The ranking as Markdown, for an issue or a forum'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l identify -d 'Keep the names and serial numbers of the machines and their users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s V -l version -d 'Print version'
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
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list show verify recover reindex tag delete" -f -a "recover" -d 'Turn what a crash or SIGKILL left behind into runs marked truncated, and undo settings that it left changed'
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
complete -c narrows -n "__fish_narrows_using_subcommand report" -s o -l output -d 'Where the page goes; several runs need it [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand report" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand report" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand report" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand report" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand report" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand export" -s f -l format -d 'Which format' -r -f -a "fio-json\t'fio 3.33\'s JSON, with each job of each phase. Into a directory: a document for each measured phase'
fio-json+\t'The same with every bucket of the histograms (fio\'s json+)'
fio-logs\t'fio\'s bandwidth, IOPS and latency logs, one directory'
csv\t'A line for each metric of one or many runs'
hlog\t'HdrHistogram interval log, a line for each phase'
iozone\t'iozone\'s table, from a run that measured record sizes and operations'
bonnie-csv\t'bonnie++\'s line of format 1.98, from runs imported from it or with phases of its names'"
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
complete -c narrows -n "__fish_narrows_using_subcommand import" -l better -d 'Whether more or less of a metric is better, where its format does not tell; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand import" -l tag -d 'A tag for the runs; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand import" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand import" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand import" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand import" -s V -l version -d 'Print version'
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
