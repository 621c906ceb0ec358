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
complete -c narrows -n "__fish_narrows_needs_command" -f -a "check" -d 'How fast is this storage, and what limits it?'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "inspect" -d 'The storage path, layer by layer: ceilings and known faults'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "why" -d 'What limits a run, the evidence, and what would decide it'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "run" -d 'Run a workload: built in, your own, a fio job file, a trace'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "compare" -d 'Did it help? A verdict for each metric of two sets of runs'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "experiment" -d 'Compare settings, kernels or targets in randomised pairs'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "rank" -d 'Targets side by side, and which metric predicts another'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "rate" -d 'Speed and application classes of a card; is its size real?'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "fill" -d 'How fast the whole device takes data, and where its cache ends'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "soak" -d 'Write known data, read them back, and say what is wrong'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "record" -d 'Record camera streams; no acknowledged frame is lost'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "watch" -d 'iostat and dstat in one: each layer of a path, by interval'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "trace" -d 'Record a command\'s file operations, to replay them elsewhere'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "copy" -d 'Copy rates of memory and device memory, by access width'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "settings" -d 'What can be set on a path; restore what was left changed'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "tune" -d 'The options of settings list and settings restore'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "runs" -d 'The archive: list, show, tag, verify, recover, delete runs'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "report" -d 'Write the page of one or several runs'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "export" -d 'Runs in other tools\' formats: fio, CSV, HdrHistogram, iozone'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "import" -d 'Other tools\' outputs as runs: fio, bonnie++, iozone, iostat ...'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "explain" -d 'A finding: what it means, how to fix it, how to undo that'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "workloads" -d 'The built-in workloads: list them, or print the text of one'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c narrows -n "__fish_narrows_needs_command" -f -a "__complete" -d 'Names for a completion script'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l budget -d 'How long it may take, prefilling included (60s, 2m, 1h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l for -d 'Is it good for a use? root-fs, etcd, A1, video=V30 ...' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l max-write -d 'The most that may be written [default: 2 GiB, or 2 % of the device]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand check" -l keep-every -d 'How often series and samples go to the archive while a phase runs' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l wait-quiet -d 'Wait for a quiet machine, at most this long' -r
complete -c narrows -n "__fish_narrows_using_subcommand check" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand check" -l read-only -d 'Write nothing; measure only what reads show'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l exhaust -d 'Write as much as the time allows, until write caches have run out: wears flash'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l plan -d 'Show what would be done, and how much it writes at most, without doing it'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l details -d 'Print everything on a terminal too: intervals, evidence, reasons'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand check" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand check" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l root -d 'Read a captured tree instead of this machine' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l capture -d 'Write all that is read into an archive that can be replayed with --root; - is stdout' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -s v -l verbose -d 'All that is known of each layer, and what could not be seen'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l keep-serials -d 'Leave serial numbers, UUIDs and names of the machine in the capture as they are'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand why" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand why" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand why" -l confirm -d 'Run the measurement that decides the first cause, on the run\'s target, and say what came out'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand why" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand why" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l set -d 'Another value for a key of the jobs, or for an option of a fio job file' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l real -d 'The workload packages by this machine\'s dpkg, in a root below the target' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l max-write -d 'The most that may be written; refused where that cannot be held' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l on-error -d 'What a failed operation does [default: as the workload says, else stop]' -r -f -a "stop\t'The phase ends, and its numbers are refused'
continue\t'It is counted by its errno, and the phase continues: its numbers are partial'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l format -d 'Print the run in another tool\'s format instead of its summary' -r -f -a "fio-json\t'fio 3.33\'s JSON'
fio-json+\t'The same with every bucket of the histograms (fio\'s json+)'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand run" -l keep-every -d 'How often series and samples go to the archive while a phase runs' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l wait-quiet -d 'Wait for a quiet machine, at most this long' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l repeat -d 'Make so many runs and tag them; --resume continues them' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l resume -d 'Resume this experiment, or the last one that is not complete' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l name -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rw -d 'read, write, rw, randread, randwrite, randrw, trim ...; then the one name that follows is the TARGET' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l readwrite -d 'What it does to blocks; or to its own-files, or as many directories, each as a whole: in a directory of its own below the target, a directory' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rw_sequencer -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinktime_blocks_type -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rwmixread -d 'Reads among the operations of a mix' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rwmixwrite -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bs -d 'Size of the operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l blocksize -d 'Size of the operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bsrange -d 'Size of the operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l blocksize_range -d 'Size of the operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bssplit -d 'Size of the operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l blockalign -d 'Offsets are multiples of it' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ba -d 'Offsets are multiples of it' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l percentage_random -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l serialize_overlap -d 'An operation waits for those in flight with which it shares bytes' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ioengine -d 'By which calls; without it io_uring for direct access and plain calls for buffered, for one direct write at a time to a file, and for one direct operation at a time on tmpfs and ramfs' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l stat_type -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth -d 'Operations in flight' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_low -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch -d 'Operations handed over in one call at most' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch_submit -d 'Operations handed over in one call at most' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch_complete -d 'Completions that a full queue waits for' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch_complete_min -d 'Completions that a full queue waits for' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l direct -d 'Past the page cache or through it' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l buffered -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sync -d 'O_DSYNC or O_SYNC' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l numa_cpu_nodes -d 'NUMA nodes whose processors may be used' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l numa_mem_policy -d 'Where its buffers are' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_min -d 'It ends, with an error, after a second in which it did less' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ratemin -d 'It ends, with an error, after a second in which it did less' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_iops_min -d 'The same in operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l flow -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l flow_id -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l flow_sleep -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l random_sequence_stride -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_backlog -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_pattern -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l steadystate_check_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ss_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fill_device -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fill_fs -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpuload -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpuchunks -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpumode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l hipri -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nowait -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l uncached -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l atomic -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l mem -d 'Pages that the buffers lie in: transparent huge pages for buffers of 64 KiB and more, ordinary pages as a program gets them that does not care, or reserved huge pages (vm.nr_hugepages)' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iomem -d 'Pages that the buffers lie in: transparent huge pages for buffers of 64 KiB and more, ordinary pages as a program gets them that does not care, or reserved huge pages (vm.nr_hugepages)' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iomem_align -d 'The first buffer starts on a multiple of this; a power of two' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l mem_align -d 'The first buffer starts on a multiple of this; a power of two' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l hugepage-size -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l invalidate -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fsync -d 'fsync (mmap: msync) after so many writes' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fdatasync -d 'fdatasync after so many writes' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l end_fsync -d 'fsync when it ends' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fsync_on_close -d 'fsync when it ends' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l numjobs -d 'Streams that do this side by side' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpus_allowed -d 'Processors that may be used' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpumask -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cpus_allowed_policy -d 'Each stream is pinned to one of them' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exitall -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exit_what -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exitwhat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l prioclass -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l prio -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l priohint -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmdprio_percentage -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmdprio_class -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmdprio -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmdprio_hint -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmdprio_bssplit -d 'Shares of its reads and writes, or of those of one size, with a priority of their own, as in read/20/real-time:0; drawn one by one' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l directory -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l filename -d 'Files that it uses' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nrfiles -d 'So many files for each stream' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nr_files -d 'So many files for each stream' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l filename_format -d 'Names of its own files; without it $jobname.$jobnum.$filenum' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l filesize -d 'How much of the target it uses' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l file_service_type -d 'How it goes from one file to the next; files as a whole also in the order in which their directory has them' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l size -d 'How much of the target it uses' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l io_size -d 'It ends after so many bytes; a percentage is of its region' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l io_limit -d 'It ends after so many bytes; a percentage is of its region' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l offset -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fileoffset -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l offset_increment -d 'From the start of one stream\'s region to the next\'s; 0: all in one region' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l offset_align -d 'An offset in percent is rounded up to a multiple of it; without it, of the smallest block' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l number_ios -d 'It ends after so many operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l loops -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l runtime -d 'Seconds at most; with --time_based, until then' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l timeout -d 'How long it measures' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l time_based -d 'Goes on until --runtime is over' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ramp_time -d 'Before the time, not counted' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l startdelay -d 'It starts so long after the phase' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l start_delay -d 'It starts so long after the phase' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l stonewall -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l wait_for_previous -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l wait_for -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zonemode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zonesize -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zonerange -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zoneskip -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l group_reporting -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l new_group -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zero_buffers -d 'Writes zeroes' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l buffer_pattern -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l buffer_compress_percentage -d 'Share of the data written that compresses to nothing' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dedupe_percentage -d 'Share of the blocks written that are copies' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dedupe_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dedupe_working_set_percentage -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dedupe_global -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l randrepeat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l allrandrepeat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l randseed -d 'Seed of offsets and data; without it, made from the run\'s' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l norandommap -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l random_distribution -d 'Order of the offsets' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_iops -d 'Demanded operations per second' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_process -d 'How the starts of paced operations are spread' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l max_latency -d 'It ends, with an error, with an operation that took longer' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l latency_target -d 'It looks for the greatest depth, up to its own, at which latencies keep to this, and ends when that is found: what counts is a window at that depth' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l latency_window -d 'How long each depth is tried, two intervals of the series or more; without it a second' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l latency_percentile -d 'How many operations of a window are to keep to the target; without it all' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l latency_run -d 'It goes on at the depth that was found, and looks for a smaller one when that does not hold any more' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinktime -d 'Pause after operations' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinktime_spin -d 'Part of the pause that is spent computing' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinktime_blocks -d 'Operations between pauses' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_write_sequence -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l do_verify -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_fatal -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l continue_on_error -d 'What a failed operation does' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ignore_error -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l steadystate -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ss -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l steadystate_duration -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ss_dur -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l steadystate_ramp_time -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ss_ramp -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l kb_base -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_bw_log -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_lat_log -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_iops_log -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_hist_log -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_avg_msec -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_hist_msec -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_hist_coarseness -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_max_value -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_offset -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_compression -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_store_compressed -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_unix_epoch -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_alternate_epoch -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_alternate_epoch_clock_id -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_issue_time -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_compression_cpus -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l job_start_clock_id -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l block_error_percentiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_window_value -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_entries -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l log_prio -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l per_job_logs -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l percentile_list -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l lat_percentiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l clat_percentiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l slat_percentiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bwavgtime -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iopsavgtime -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disable_lat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disable_clat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disable_slat -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disable_bw -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disable_bw_measurement -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l gtod_reduce -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l unified_rw_reporting -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_cycle -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ratecycle -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rwmixcycle -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l disk_util -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l error_dump -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l refill_buffers -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l scramble_buffers -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l buffer_compress_chunk -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l description -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l comm -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l unit_base -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l eta -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l eta_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l minimal -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l significant_figures -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l status_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thread -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l threads -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fork -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l userspace_reap -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fixedbufs -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l registerfiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nonvectored -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l clocksource -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l gtod_cpu -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l clocksource_cpu -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch_complete_max -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l io_submit_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l libaio_vectored -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l softrandommap -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l random_generator -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l use_os_rand -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_async -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_async_cpus -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_dump -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verifysort -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_offset -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_pattern_interval -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verifysort_nr -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fallocate -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l create_on_open -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l create_serialize -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l create_fsync -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l allow_file_create -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fadvise_hint -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l openfiles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l unlink -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l unlink_each_loop -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l allow_mounted_write -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l readonly -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l unique_filename -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_state_save -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exitall_on_error -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nice -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read_iolog -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_iolog -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_no_stall -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_redirect -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_align -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_scale -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_time_scale -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l replay_skip -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l merge_blktrace_file -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l merge_blktrace_scalars -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l merge_blktrace_iters -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l blktrace -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read_iolog_chunked -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l lockmem -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l iodepth_batch_complete_max_ratio -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bs_is_seq_rand -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bs_unaligned -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l blocksize_unaligned -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l overlap -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l io_size_pct -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l profile -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l kb_base_unit -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinktime_iotime -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_barrier -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sprandom -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l spr_cs -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l spr_num_regions -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l spr_op -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l stats -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_hint -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thp -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l gpu_dev_id -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l startdelay_range -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l end_syncfs -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l filesize_range -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l file_append -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l opendir -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l create_only -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l pre_read -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l lockfile -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l filetype -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l flow_watermark -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sync_file_range -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sqthread_poll -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sqthread_poll_cpu -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cmd_type -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l md_per_io_size -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l pi_act -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l pi_chk -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l apptag -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l apptag_mask -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l readwrite_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l writefua -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l readfua -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fdp -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l plids -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dataplacement -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fdp_pli -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l num_range -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l fdp_pli_select -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l plid_select -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l dp_scheme -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l data_placement -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cdb_len -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l deac -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_bytchk -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l force_async -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l hostname -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l port -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l protocol -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l listen -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l pingpong -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l interface -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ttl -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l nodelay -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l window_size -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l mss -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exit_on_io_done -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l hipri_percentage -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l program -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l arguments -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l grace_time -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l std_redirect -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l donorname -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l inplace -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l volume -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l brick -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l single-instance -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l skip_bad -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l sg_write_mode -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l stream_id -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l uri -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l bindname -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verb -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l clustername -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l pool -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rbdname -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l clientname -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l conf -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l busy_poll -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l touch_objects -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l percentage_sequential -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ramp_size -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l rate_ignore_thinktime -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zonecapacity -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l max_open_zones -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l job_max_open_zones -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read_beyond_wp -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zone_reset_threshold -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l zone_reset_frequency -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ignore_zone_limits -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l recover_zbd_write_error -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l write_zone_remainder -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exec_prerun -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l exec_postrun -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l ioscheduler -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cgroup -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cgroup_weight -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l cgroup_nodelete -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l uid -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l gid -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l thinkcycles -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_backlog_batch -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_only -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_state_load -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l experimental_verify -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l trim_percentage -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l trim_verify_zero -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l trim_backlog -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l trim_backlog_batch -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_header_seed -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l verify_policy -d 'As in fio\'s job files' -r
complete -c narrows -n "__fish_narrows_using_subcommand run" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand run" -l plan -d 'Print the resolved plan instead of executing it'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l lenient -d 'Leave out what a fio job file asks for and is not supported, and say so in the run'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l strict -d 'Leave out runs of an experiment that something slowed (steal, other programs, throttling) instead of warning'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l calibrate -d 'Run the first arm of an experiment under two names: what differs is noise, and is kept as this rig\'s noise floor'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l restore -d 'Undo what an experiment changed on this machine and could not undo itself (a crash, a power cut), and end'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l allow-commands -d 'Run the commands in an experiment\'s text without asking; without a terminal there is nobody to ask'
complete -c narrows -n "__fish_narrows_using_subcommand run" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand run" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l repeat -d 'Make the runs first: N of each value of --with; A is \'WORKLOAD TARGET\'' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l with -d 'What differs between the runs: a setting, or a key of the workload' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l set -d 'Another value for a key of the workload, in all runs of --repeat' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l seed -d 'Seed of the order of the runs of --repeat, and of everything random in them [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l margin -d 'The largest difference that does not matter [default: 5; tails 10]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l alpha -d 'Error rate over all primary metrics together [default: 0.05]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l primary -d 'A metric that decides; repeatable [default: the rate of each phase]' -r
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l fail-on -d 'Exit code 1 if a primary metric has this verdict' -r -f -a "worse\t'A primary metric is worse'"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s o -l output -d 'Write a self-contained page' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l plan -d 'Show what --repeat would do instead of doing it'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l strict -d 'Leave out runs that something slowed (steal, other programs, throttling) instead of counting them with a warning'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l anyway -d 'With --fail-on, judge also results of other tools whose job options differ'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l markdown -d 'The comparison as Markdown, for an issue or a forum'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l identify -d 'Keep the names and serial numbers of the machines and their users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand compare" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -f -a "run" -d 'Run an experiment: arms in randomised pairs, a verdict for each metric'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -f -a "list" -d 'Executions of experiments in this archive, and how far each is'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and not __fish_seen_subcommand_from run list restore" -f -a "restore" -d 'Undo what an interrupted experiment left changed on this machine'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l set -d 'Another value for a key of the workload' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l resume -d 'Resume this execution, or the last one that is not complete, in its order' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l report -d 'Where the page goes [default: reports/ID.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l wait-quiet -d 'Wait for a quiet machine, at most this long' -r
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l plan -d 'Show what would be done, without doing it'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l calibrate -d 'Run the first arm under two names, and keep the difference as this machine\'s noise'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l strict -d 'Leave out runs that something slowed (steal, other programs, throttling)'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l allow-commands -d 'Run the commands in its text without asking'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l identify -d 'Keep the names and serial numbers of the machine and its users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from restore" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from restore" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from restore" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand experiment; and __fish_seen_subcommand_from restore" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l predict -d 'The metric that matters: which others put the targets in its order?' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l predictors -d 'What it may be predicted from; may be given several times [default: all other metrics]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l metric -d 'What is shown side by side, also several [default: all, or the rates]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l better -d 'Which direction of a metric is better, where its source does not say' -r
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s o -l output -d 'Write a self-contained page' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l strict -d 'Leave out runs that something slowed instead of taking what they show as the least that the target does'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l markdown -d 'The ranking as Markdown, for an issue or a forum'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l identify -d 'Keep the names and serial numbers of the machines and their users on the page'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand rank" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l class -d 'One class: A1, A2, C2 to C10, U1, U3, V6 to V90; exit code 1 if below' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l capacity -d 'Find out how large it really is: at random offsets, or all; content is lost' -r -f -a "quick\t'Random offsets, as many as find a fake: seconds'
full\t'All of it is written and read back'"
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l budget -d 'How long measuring may take, prefilling included' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l max-write -d 'The most that may be written [default: as for check]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l wait-quiet -d 'Wait for a quiet machine, at most this long' -r
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand rate" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand rate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand rate" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l size -d 'How much is written [default: all that is free, but for a reserve]' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l passes -d 'How often all of it is written' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l rest -d 'How long it rests before and after each part' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l report -d 'Where the page goes [default: reports/RUN.html in the archive]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l destroy -d 'Allow writing to the block device with this serial number: content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l seed -d 'Seed of everything random [default: from the system]' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l wait-quiet -d 'Wait for a quiet machine, at most this long' -r
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l random -d 'Blocks in random order instead of sequential'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l verify -d 'Read all of it back: what is wrong, and how large is it really?'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l plan -d 'Show what would be done, without doing it'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l read-registers -d 'Read the device registers that are known to hold a cause, as root'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand fill" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l for -d 'How long, all sessions together [default: one pass]' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l passes -d 'How many passes' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l size -d 'How much of the target is written [default: all; of a file system 95 % of what is free]' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l rate -d 'Write no faster, bytes a second' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l mode -d 'Only passes that write each block once (sweep), or only those that overwrite blocks again and again (churn); otherwise every fourth does' -r -f -a "sweep\t'Each block is written once'
churn\t'Blocks are overwritten again and again, with flushes between'"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l on-finding -d 'What happens when something is wrong [default: continue]' -r -f -a "continue\t'Continue, with exit code 1 at the end'
stop\t'End with this lap'"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l hook -d 'Run this by sh for each finding, with the finding as JSON on stdin' -r -f -a "(__fish_complete_command)"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l witness -d 'Keep the record of written data on another disk, or by ssh elsewhere' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l resume -d 'Resume this soak, or the last one that is not finished' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l destroy -d 'Allow writing to the block device TARGET with this serial number: its content is lost' -r
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l buffered -d 'Write through the page cache; reading back bypasses it anyway'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l busy -d 'Random reads beside the writes, so that the interface is busy in both directions; their data are not checked'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l no-trim -d 'Trim nothing; otherwise every fourth pass trims blocks, where the device can, before it writes them again'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l no-scrub -d 'No scrub of the file system at the end (btrfs and bcachefs, as root)'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand soak" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -s o -l output -d 'The recording: directory, file, block device, sim:NAME' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l camera -d 'Record a camera (V4L2): front=/dev/video0,1280x720@30' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l generate -d 'Generated cameras, for a test' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l jitter -d 'By how much sizes and moments of generated frames differ, percent' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l burst -d 'Generated frames come so many at once' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l frames -d 'Generated frames of each camera' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l seed -d 'Seed of the generated frames' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l listen -d 'Take producers by a Unix socket that is made there' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l for -d 'How long to record [default: until the producers end, or Ctrl-C]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l size -d 'Size of a new recording, reserved at its start' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l when-full -d 'At the end of that size: stop, or wrap [default: stop]' -r -f -a "stop\t'Recording stops'
wrap\t'The oldest is overwritten'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l max-frame -d 'The largest frame of a new recording [default: a quarter of a segment, 16 MiB]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l segment -d 'Length of the segments of a new recording [default: 64 MiB, less where there is little room]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l ring -d 'Memory for buffered frames [default: 256 MiB]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l ring-full -d 'Whether producers wait where the ring is full [default: wait; generated cameras with a rate never do]' -r -f -a "wait\t'A producer is not read from until there is space'
drop\t'What comes is lost, and counted'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l max-latency -d 'A frame is durable so long after it came, and the time of a flush' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l priority -d 'The priority that writes ask for' -r -f -a "real-time\t'Before those of others, where the scheduler of the disk orders by it'
normal\t'As those of others'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l nice -d 'Nice value of the recorder, -20 (before others) to 19 [default: as it is]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l cpus -d 'The CPUs that the recorder runs on, as 0-1,3 [default: as it is]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l defer -d 'Pause this process, or all of this control group (its directory), while a quarter of the ring holds frames; several times for several' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l defer-at-most -d 'They are paused for no longer at a time, and have as long to themselves after it' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l limit -d 'Limit this control group (its directory) meanwhile on the disks below TARGET: weight:N, latency:TIME, read:SIZE, write:SIZE (a second), read-iops:N, write-iops:N, several with commas; what was there before is restored' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l metrics -d 'Write metrics there every second (OpenMetrics text): to a file, or, where the name ends in .sock, to whoever connects' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l destroy -d 'Allow recording onto the block device with this serial number' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l streams -d 'The streams that are planned for: how many, and bits or bytes a second of each' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l max-write -d 'What --plan writes to the device at most [default: as a check: 2 GiB, at most 2 % of the device]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l export -d 'Write frames in this format to --into, else to stdout; also while recording continues' -r -f -a "jpeg\t'A file for each picture, in the directory --into'
mjpeg\t'Pictures back to back'
mkv\t'Matroska video, with the times of the frames'
raw\t'The bytes of the frames, back to back'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l stream -d 'Which stream; needed where there are several' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l from -d 'From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l to -d 'Before this moment' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l last -d 'The last so long of what is recorded' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l into -d 'Where exported frames go: a file, for jpeg a directory' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l keep-size -d 'Keep what was reserved and not used: else it is given back at the end'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l new -d 'Give up what was recorded there before'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l overwrite -d 'Allow recording into the regular file TARGET that holds something else: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l plan -d 'Write as fast as the storage takes it for a minute (--for), at most --max-write, and say how many --streams it carries'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l list -d 'Say what a recording holds'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l verify -d 'Read all of a recording: is any frame missing or altered that was acknowledged?'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l recover -d 'The same after a crash; fix a damaged header, and return unused space'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l pin -d 'Keep the segments that hold frames of this time (--from, --to, --last): a recording that wraps keeps them, also one that runs now'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l unpin -d 'Let them be overwritten again; without a time, all'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "list" -d 'What a recording holds: streams, frames, gaps'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "export" -d 'Write frames as pictures, MJPEG or Matroska'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "verify" -d 'Is a frame that was acknowledged missing or altered?'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "recover" -d 'After a crash: verify, fix a damaged header, return space'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "pin" -d 'Keep a span of a recording that overwrites its oldest'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "unpin" -d 'Let a pinned span be overwritten again; without a time, all'
complete -c narrows -n "__fish_narrows_using_subcommand record; and not __fish_seen_subcommand_from list export verify recover pin unpin plan" -a "plan" -d 'How many streams a storage carries, with how much memory'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l format -d 'Which format' -r -f -a "jpeg\t'A file for each picture, in the directory --into'
mjpeg\t'Pictures back to back'
mkv\t'Matroska video, with the times of the frames'
raw\t'The bytes of the frames, back to back'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l stream -d 'Which stream; needed where there are several' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l from -d 'From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l to -d 'Before this moment' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l last -d 'The last so long of what is recorded' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l into -d 'Where frames go: a file, for jpeg a directory [default: stdout]' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from export" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from verify" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from verify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from verify" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -l destroy -d 'Allow writing to the block device with this serial number' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -l overwrite -d 'Allow writing into a file that no longer begins as a recording'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from recover" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l from -d 'From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l to -d 'Before this moment' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l last -d 'The last so long of what is recorded' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from pin" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l from -d 'From this moment on: a time (2026-11-25T13:00:00Z), or that long after the first frame (90s)' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l to -d 'Before this moment' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l last -d 'The last so long of what is recorded' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from unpin" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l streams -d 'How many streams, and bits or bytes a second of each [default: 4x16Mbit]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l for -d 'How long it writes [default: 60s]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l max-write -d 'What is written at most [default: as a check: 2 GiB, at most 2 % of the device]' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l destroy -d 'Allow writing to the block device TARGET with this serial number' -r
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l overwrite -d 'Allow writing into the regular file TARGET: its content is lost'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand record; and __fish_seen_subcommand_from plan" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand watch" -s i -l interval -d 'Time between rows (500ms, 1s, 1m) [default: 1s]' -r
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
complete -c narrows -n "__fish_narrows_using_subcommand trace" -s o -l output -d 'The file that the recording goes to' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l root -d 'The directory whose files are replayed [default: the current one]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l device -d 'Record the requests of this disk or partition' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l for -d 'For so long [default: until the command ends, or Ctrl-C]' -r
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand trace" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand trace" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand trace" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l mapped -d 'Where the device\'s memory can be mapped: /dev/mem@OFFSET+LENGTH' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l time -d 'How long each way of copying is measured [default: 120 to 300 ms]' -r
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l tag -d 'A tag for the run; may be given several times' -r
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l allow-writes -d 'Measure writes, too: of device memory that is mapped, which gets what it holds'
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l read-registers -d 'Read what may be registers; even a read can change a device or hang a machine'
complete -c narrows -n "__fish_narrows_using_subcommand copy" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand copy" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -f -a "list" -d 'What can be set on the path to a target: its value, and others worth a try'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and not __fish_seen_subcommand_from list restore" -f -a "restore" -d 'Undo what an interrupted experiment left changed on this machine'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from restore" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from restore" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from restore" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand settings; and __fish_seen_subcommand_from restore" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l list -d 'Show what can be set on the path to a directory, a file, a device or a disk\'s name' -r -F
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l restore -d 'Undo what an experiment changed on this machine and could not undo itself; commands are shown before they run'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand tune" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "list" -d 'All runs, or those that fit, newest last'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "prune" -d 'Delete runs by a rule; those with a tag stay, unless --tag names it'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "wear" -d 'How the disks wore from run to run and soak to soak, by what they say themselves'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "show" -d 'One run: its card, or with --json all of it'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "verify" -d 'Check bundles against their SHA256SUMS (exit 1 if one was altered)'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "recover" -d 'Turn what a crash or SIGKILL left behind into runs marked truncated, and undo settings that it left changed'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "reindex" -d 'Rebuild index.jsonl from the bundles'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "tag" -d 'Give a run a tag, or list tags'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and not __fish_seen_subcommand_from list prune wear show verify recover reindex tag delete" -f -a "delete" -d 'Delete runs with their pages and tags'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l tag -d 'With this tag' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l workload -d 'Of this workload' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l target -d 'On this target, or with this in its name' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l since -d 'Not older than this (7d, 12h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l tag -d 'With this tag' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l workload -d 'Of this workload' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l target -d 'On this target, or with this in its name' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l since -d 'Not older than this (7d, 12h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l keep -d 'Keep so many of each workload on each target, the newest' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l older-than -d 'Only runs that are older (30d, 12h)' -r
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l dry-run -d 'Only say which would go'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -s y -l yes -d 'Delete without asking; only a terminal is asked'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from prune" -s V -l version -d 'Print version'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from wear" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from wear" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from wear" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from wear" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from wear" -s V -l version -d 'Print version'
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
complete -c narrows -n "__fish_narrows_using_subcommand runs; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Delete without asking; only a terminal is asked'
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
complete -c narrows -n "__fish_narrows_using_subcommand import" -l better -d 'Which direction of a metric is better, where its format does not say' -r
complete -c narrows -n "__fish_narrows_using_subcommand import" -l for -d 'Is the storage good for this, by these numbers? A name as of check --for' -r
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
complete -c narrows -n "__fish_narrows_using_subcommand __complete" -l archive -d 'Where runs are kept [default: $NARROWS_ARCHIVE, else $XDG_DATA_HOME/narrows, else ~/.local/share/narrows]' -r -f -a "(__fish_complete_directories)"
complete -c narrows -n "__fish_narrows_using_subcommand __complete" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set or TERM is dumb'
always\t'Always'
never\t'Never'"
complete -c narrows -n "__fish_narrows_using_subcommand __complete" -l json -d 'Print one valid JSON document on stdout, and nothing else'
complete -c narrows -n "__fish_narrows_using_subcommand __complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c narrows -n "__fish_narrows_using_subcommand __complete" -s V -l version -d 'Print version'

complete -c narrows -a '(command narrows __complete -- (commandline -opc)[2..-1] 2>/dev/null)'
