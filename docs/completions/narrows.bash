_narrows() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="narrows"
                ;;
            narrows,__complete)
                cmd="narrows__subcmd____complete"
                ;;
            narrows,check)
                cmd="narrows__subcmd__check"
                ;;
            narrows,compare)
                cmd="narrows__subcmd__compare"
                ;;
            narrows,completions)
                cmd="narrows__subcmd__completions"
                ;;
            narrows,copy)
                cmd="narrows__subcmd__copy"
                ;;
            narrows,experiment)
                cmd="narrows__subcmd__experiment"
                ;;
            narrows,explain)
                cmd="narrows__subcmd__explain"
                ;;
            narrows,export)
                cmd="narrows__subcmd__export"
                ;;
            narrows,fill)
                cmd="narrows__subcmd__fill"
                ;;
            narrows,import)
                cmd="narrows__subcmd__import"
                ;;
            narrows,inspect)
                cmd="narrows__subcmd__inspect"
                ;;
            narrows,rank)
                cmd="narrows__subcmd__rank"
                ;;
            narrows,rate)
                cmd="narrows__subcmd__rate"
                ;;
            narrows,record)
                cmd="narrows__subcmd__record"
                ;;
            narrows,report)
                cmd="narrows__subcmd__report"
                ;;
            narrows,run)
                cmd="narrows__subcmd__run"
                ;;
            narrows,runs)
                cmd="narrows__subcmd__runs"
                ;;
            narrows,settings)
                cmd="narrows__subcmd__settings"
                ;;
            narrows,soak)
                cmd="narrows__subcmd__soak"
                ;;
            narrows,trace)
                cmd="narrows__subcmd__trace"
                ;;
            narrows,tune)
                cmd="narrows__subcmd__tune"
                ;;
            narrows,watch)
                cmd="narrows__subcmd__watch"
                ;;
            narrows,why)
                cmd="narrows__subcmd__why"
                ;;
            narrows,workloads)
                cmd="narrows__subcmd__workloads"
                ;;
            narrows__subcmd__experiment,list)
                cmd="narrows__subcmd__experiment__subcmd__list"
                ;;
            narrows__subcmd__experiment,restore)
                cmd="narrows__subcmd__experiment__subcmd__restore"
                ;;
            narrows__subcmd__experiment,run)
                cmd="narrows__subcmd__experiment__subcmd__run"
                ;;
            narrows__subcmd__record,export)
                cmd="narrows__subcmd__record__subcmd__export"
                ;;
            narrows__subcmd__record,list)
                cmd="narrows__subcmd__record__subcmd__list"
                ;;
            narrows__subcmd__record,pin)
                cmd="narrows__subcmd__record__subcmd__pin"
                ;;
            narrows__subcmd__record,plan)
                cmd="narrows__subcmd__record__subcmd__plan"
                ;;
            narrows__subcmd__record,recover)
                cmd="narrows__subcmd__record__subcmd__recover"
                ;;
            narrows__subcmd__record,unpin)
                cmd="narrows__subcmd__record__subcmd__unpin"
                ;;
            narrows__subcmd__record,verify)
                cmd="narrows__subcmd__record__subcmd__verify"
                ;;
            narrows__subcmd__runs,delete)
                cmd="narrows__subcmd__runs__subcmd__delete"
                ;;
            narrows__subcmd__runs,list)
                cmd="narrows__subcmd__runs__subcmd__list"
                ;;
            narrows__subcmd__runs,prune)
                cmd="narrows__subcmd__runs__subcmd__prune"
                ;;
            narrows__subcmd__runs,recover)
                cmd="narrows__subcmd__runs__subcmd__recover"
                ;;
            narrows__subcmd__runs,reindex)
                cmd="narrows__subcmd__runs__subcmd__reindex"
                ;;
            narrows__subcmd__runs,show)
                cmd="narrows__subcmd__runs__subcmd__show"
                ;;
            narrows__subcmd__runs,tag)
                cmd="narrows__subcmd__runs__subcmd__tag"
                ;;
            narrows__subcmd__runs,verify)
                cmd="narrows__subcmd__runs__subcmd__verify"
                ;;
            narrows__subcmd__runs,wear)
                cmd="narrows__subcmd__runs__subcmd__wear"
                ;;
            narrows__subcmd__settings,list)
                cmd="narrows__subcmd__settings__subcmd__list"
                ;;
            narrows__subcmd__settings,restore)
                cmd="narrows__subcmd__settings__subcmd__restore"
                ;;
            narrows__subcmd__workloads,list)
                cmd="narrows__subcmd__workloads__subcmd__list"
                ;;
            narrows__subcmd__workloads,show)
                cmd="narrows__subcmd__workloads__subcmd__show"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        narrows)
            opts="-h -V --json --archive --color --help --version check inspect why run compare experiment rank rate fill soak record watch trace copy settings tune runs report export import explain workloads completions __complete"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd____complete)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__check)
            opts="-h -V --budget --for --max-write --read-only --exhaust --plan --details --report --identify --keep-every --overwrite --destroy --read-registers --seed --tag --wait-quiet --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --budget)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --keep-every)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait-quiet)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__compare)
            opts="-o -h -V --repeat --with --set --plan --seed --overwrite --destroy --read-registers --margin --alpha --primary --strict --fail-on --anyway --markdown --output --identify --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --margin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpha)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --primary)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "worse" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                -o)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__completions)
            opts="-h -V --json --archive --color --help --version bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__copy)
            opts="-h -V --allow-writes --read-registers --mapped --time --tag --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --mapped)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__experiment)
            opts="-h -V --json --archive --color --help --version run list restore"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__experiment__subcmd__list)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__experiment__subcmd__restore)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__experiment__subcmd__run)
            opts="-h -V --set --plan --resume --calibrate --strict --allow-commands --report --identify --overwrite --destroy --read-registers --seed --tag --wait-quiet --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --set)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait-quiet)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__explain)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__export)
            opts="-f -o -h -V --format --output --phase --keep-refused --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "fio-json fio-json+ fio-logs csv hlog iozone bonnie-csv" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "fio-json fio-json+ fio-logs csv hlog iozone bonnie-csv" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --phase)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__fill)
            opts="-h -V --size --passes --random --rest --verify --plan --report --overwrite --destroy --read-registers --seed --tag --wait-quiet --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --passes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rest)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait-quiet)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__import)
            opts="-h -V --better --for --tag --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --better)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__inspect)
            opts="-v -h -V --verbose --root --capture --keep-serials --read-registers --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --root)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --capture)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__rank)
            opts="-o -h -V --predict --predictors --metric --better --strict --markdown --output --identify --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --predict)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --predictors)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metric)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --better)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                -o)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__rate)
            opts="-h -V --class --capacity --budget --max-write --overwrite --destroy --read-registers --seed --tag --wait-quiet --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --capacity)
                    COMPREPLY=($(compgen -W "quick full" -- "${cur}"))
                    return 0
                    ;;
                --budget)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait-quiet)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record)
            opts="-o -h -V --output --camera --generate --jitter --burst --frames --seed --listen --for --size --keep-size --when-full --max-frame --segment --ring --ring-full --max-latency --priority --nice --cpus --defer --defer-at-most --limit --metrics --new --overwrite --destroy --plan --streams --max-write --list --verify --recover --pin --unpin --export --stream --from --to --last --into --json --archive --color --help --version list export verify recover pin unpin plan"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --camera)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --generate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jitter)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --burst)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --frames)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --when-full)
                    COMPREPLY=($(compgen -W "stop wrap" -- "${cur}"))
                    return 0
                    ;;
                --max-frame)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --segment)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ring)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ring-full)
                    COMPREPLY=($(compgen -W "wait drop" -- "${cur}"))
                    return 0
                    ;;
                --max-latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --priority)
                    COMPREPLY=($(compgen -W "real-time normal" -- "${cur}"))
                    return 0
                    ;;
                --nice)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --defer)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --defer-at-most)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --metrics)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --export)
                    COMPREPLY=($(compgen -W "jpeg mjpeg mkv raw" -- "${cur}"))
                    return 0
                    ;;
                --stream)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --last)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__export)
            opts="-h -V --format --stream --from --to --last --into --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "jpeg mjpeg mkv raw" -- "${cur}"))
                    return 0
                    ;;
                --stream)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --last)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__list)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__pin)
            opts="-h -V --from --to --last --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --last)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__plan)
            opts="-h -V --streams --for --max-write --overwrite --destroy --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__recover)
            opts="-h -V --overwrite --destroy --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__unpin)
            opts="-h -V --from --to --last --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --last)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__record__subcmd__verify)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__report)
            opts="-o -h -V --output --identify --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                -o)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__run)
            opts="-h -V --set --real --plan --max-write --lenient --on-error --format --report --identify --keep-every --overwrite --destroy --read-registers --seed --tag --wait-quiet --repeat --strict --resume --calibrate --restore --allow-commands --name --rw --readwrite --rw_sequencer --thinktime_blocks_type --rwmixread --rwmixwrite --bs --blocksize --bsrange --blocksize_range --bssplit --blockalign --ba --percentage_random --serialize_overlap --ioengine --stat_type --iodepth --iodepth_low --iodepth_batch --iodepth_batch_submit --iodepth_batch_complete --iodepth_batch_complete_min --direct --buffered --sync --numa_cpu_nodes --numa_mem_policy --rate_min --ratemin --rate_iops_min --flow --flow_id --flow_sleep --random_sequence_stride --verify_backlog --verify_pattern --steadystate_check_interval --ss_interval --fill_device --fill_fs --cpuload --cpuchunks --cpumode --hipri --nowait --uncached --atomic --mem --iomem --iomem_align --mem_align --hugepage-size --invalidate --fsync --fdatasync --end_fsync --fsync_on_close --numjobs --cpus_allowed --cpumask --cpus_allowed_policy --exitall --exit_what --exitwhat --prioclass --prio --priohint --cmdprio_percentage --cmdprio_class --cmdprio --cmdprio_hint --cmdprio_bssplit --directory --filename --libblkio_driver --libblkio_path --nrfiles --nr_files --filename_format --filesize --file_service_type --size --io_size --io_limit --offset --fileoffset --offset_increment --offset_align --number_ios --loops --runtime --timeout --time_based --ramp_time --startdelay --start_delay --stonewall --wait_for_previous --wait_for --zonemode --zonesize --zonerange --zoneskip --group_reporting --new_group --zero_buffers --buffer_pattern --buffer_compress_percentage --dedupe_percentage --dedupe_mode --dedupe_working_set_percentage --dedupe_global --randrepeat --allrandrepeat --randseed --norandommap --random_distribution --rate --rate_iops --rate_process --max_latency --latency_target --latency_window --latency_percentile --latency_run --thinktime --thinktime_spin --thinktime_blocks --verify --verify_write_sequence --do_verify --verify_fatal --continue_on_error --ignore_error --steadystate --ss --steadystate_duration --ss_dur --steadystate_ramp_time --ss_ramp --kb_base --write_bw_log --write_lat_log --write_iops_log --write_hist_log --log_avg_msec --log_hist_msec --log_hist_coarseness --log_max_value --log_offset --log_compression --log_store_compressed --log_unix_epoch --log_alternate_epoch --log_alternate_epoch_clock_id --log_issue_time --log_compression_cpus --job_start_clock_id --block_error_percentiles --log_window_value --log_entries --log_prio --per_job_logs --percentile_list --lat_percentiles --clat_percentiles --slat_percentiles --bwavgtime --iopsavgtime --disable_lat --disable_clat --disable_slat --disable_bw --disable_bw_measurement --gtod_reduce --unified_rw_reporting --rate_cycle --ratecycle --rwmixcycle --disk_util --error_dump --refill_buffers --scramble_buffers --buffer_compress_chunk --description --comm --unit_base --eta --eta_interval --minimal --significant_figures --status_interval --thread --threads --fork --userspace_reap --fixedbufs --registerfiles --nonvectored --clocksource --gtod_cpu --clocksource_cpu --iodepth_batch_complete_max --io_submit_mode --libaio_vectored --softrandommap --random_generator --use_os_rand --verify_interval --verify_async --verify_async_cpus --verify_dump --verifysort --verify_offset --verify_pattern_interval --verifysort_nr --libblkio_num_entries --libblkio_queue_size --libblkio_vectored --libblkio_wait_mode --libblkio_force_enable_completion_eventfd --fallocate --create_on_open --create_serialize --create_fsync --allow_file_create --fadvise_hint --openfiles --unlink --unlink_each_loop --allow_mounted_write --readonly --unique_filename --verify_state_save --file_append --exitall_on_error --nice --read_iolog --write_iolog --replay_no_stall --replay_redirect --replay_align --replay_scale --replay_time_scale --replay_skip --merge_blktrace_file --merge_blktrace_scalars --merge_blktrace_iters --blktrace --read_iolog_chunked --lockmem --iodepth_batch_complete_max_ratio --bs_is_seq_rand --bs_unaligned --blocksize_unaligned --overlap --io_size_pct --profile --kb_base_unit --thinktime_iotime --write_barrier --sprandom --spr_cs --spr_num_regions --spr_op --stats --write_hint --thp --gpu_dev_id --startdelay_range --end_syncfs --filesize_range --opendir --create_only --pre_read --lockfile --filetype --flow_watermark --sync_file_range --sqthread_poll --sqthread_poll_cpu --cmd_type --md_per_io_size --pi_act --pi_chk --apptag --apptag_mask --readwrite_mode --writefua --readfua --write_mode --verify_mode --fdp --plids --dataplacement --fdp_pli --num_range --fdp_pli_select --plid_select --dp_scheme --data_placement --cdb_len --deac --read_mode --verify_bytchk --force_async --libblkio_pre_connect_props --libblkio_pre_start_props --libblkio_write_zeroes_on_trim --hostname --port --protocol --listen --pingpong --interface --ttl --nodelay --window_size --mss --exit_on_io_done --hipri_percentage --program --arguments --grace_time --std_redirect --donorname --inplace --volume --brick --single-instance --skip_bad --sg_write_mode --stream_id --uri --bindname --verb --clustername --pool --rbdname --clientname --conf --busy_poll --touch_objects --percentage_sequential --ramp_size --rate_ignore_thinktime --zonecapacity --max_open_zones --job_max_open_zones --read_beyond_wp --zone_reset_threshold --zone_reset_frequency --ignore_zone_limits --recover_zbd_write_error --write_zone_remainder --exec_prerun --exec_postrun --ioscheduler --cgroup --cgroup_weight --cgroup_nodelete --uid --gid --thinkcycles --verify_backlog_batch --verify_only --verify_state_load --experimental_verify --trim_percentage --trim_verify_zero --trim_backlog --trim_backlog_batch --verify_header_seed --verify_policy --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --set)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --real)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on-error)
                    COMPREPLY=($(compgen -W "stop continue" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "fio-json fio-json+" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --keep-every)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait-quiet)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --resume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rw)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --readwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rw_sequencer)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks_type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixwrite)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --blocksize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bsrange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --blocksize_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --blockalign)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ba)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentage_random)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --serialize_overlap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioengine)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stat_type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_low)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_submit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --direct)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffered)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_cpu_nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numa_mem_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ratemin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_iops_min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_sleep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_sequence_stride)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_check_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ss_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill_device)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fill_fs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpuload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpuchunks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hipri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nowait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uncached)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --atomic)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iomem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iomem_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mem_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hugepage-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --invalidate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdatasync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --end_fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fsync_on_close)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --numjobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus_allowed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpumask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cpus_allowed_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exitall)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exit_what)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exitwhat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prioclass)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --priohint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmdprio_bssplit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --directory)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_driver)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nrfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nr_files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filename_format)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --file_service_type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fileoffset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_increment)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --offset_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --number_ios)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --loops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --time_based)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startdelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --start_delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stonewall)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait_for_previous)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --wait_for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonemode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonesize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonerange)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zoneskip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --group_reporting)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --new_group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zero_buffers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_pattern)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_working_set_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dedupe_global)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --randrepeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allrandrepeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --randseed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --norandommap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_distribution)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_iops)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_process)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_latency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_percentile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --latency_run)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_spin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_blocks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_write_sequence)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --do_verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_fatal)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --continue_on_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_duration)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ss_dur)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --steadystate_ramp_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ss_ramp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kb_base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_bw_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_lat_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iops_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_hist_log)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_avg_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_msec)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_hist_coarseness)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_max_value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_compression)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_store_compressed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_unix_epoch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_alternate_epoch_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_issue_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_compression_cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_start_clock_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --block_error_percentiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_window_value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log_prio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --per_job_logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentile_list)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lat_percentiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clat_percentiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slat_percentiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bwavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iopsavgtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_lat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_clat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_slat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_bw)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disable_bw_measurement)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --gtod_reduce)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unified_rw_reporting)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_cycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ratecycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rwmixcycle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --disk_util)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --error_dump)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --refill_buffers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scramble_buffers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --buffer_compress_chunk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --description)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --comm)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unit_base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --eta)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --eta_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --minimal)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --significant_figures)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --status_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --threads)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fork)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --userspace_reap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fixedbufs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --registerfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nonvectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clocksource)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --gtod_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clocksource_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_max)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_submit_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libaio_vectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --softrandommap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --random_generator)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --use_os_rand)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_async)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_async_cpus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_dump)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verifysort)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_offset)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_pattern_interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verifysort_nr)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_num_entries)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_queue_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_vectored)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_wait_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_force_enable_completion_eventfd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fallocate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --create_on_open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --create_serialize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --create_fsync)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow_file_create)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fadvise_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --openfiles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unlink)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unlink_each_loop)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --allow_mounted_write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --readonly)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --unique_filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_state_save)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --file_append)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exitall_on_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nice)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_iolog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_no_stall)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_redirect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_align)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_time_scale)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --replay_skip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_scalars)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --merge_blktrace_iters)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --blktrace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_iolog_chunked)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lockmem)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iodepth_batch_complete_max_ratio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs_is_seq_rand)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bs_unaligned)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --blocksize_unaligned)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlap)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --io_size_pct)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --profile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kb_base_unit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinktime_iotime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_barrier)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sprandom)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_cs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_num_regions)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spr_op)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stats)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_hint)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --gpu_dev_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --startdelay_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --end_syncfs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filesize_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --opendir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --create_only)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pre_read)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --lockfile)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --filetype)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flow_watermark)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sync_file_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sqthread_poll)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sqthread_poll_cpu)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cmd_type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --md_per_io_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pi_act)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pi_chk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --apptag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --apptag_mask)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --readwrite_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --writefua)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --readfua)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --plids)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dataplacement)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp_pli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --num_range)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fdp_pli_select)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --plid_select)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dp_scheme)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --data_placement)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cdb_len)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --deac)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_bytchk)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --force_async)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_pre_connect_props)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_pre_start_props)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --libblkio_write_zeroes_on_trim)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hostname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pingpong)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --interface)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodelay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --window_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exit_on_io_done)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hipri_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --program)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --arguments)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grace_time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --std_redirect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --donorname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --inplace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --volume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --brick)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --single-instance)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --skip_bad)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sg_write_mode)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stream_id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bindname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verb)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clustername)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pool)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rbdname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clientname)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --conf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --busy_poll)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --touch_objects)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --percentage_sequential)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ramp_size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate_ignore_thinktime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zonecapacity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --job_max_open_zones)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --read_beyond_wp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zone_reset_threshold)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --zone_reset_frequency)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore_zone_limits)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --recover_zbd_write_error)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write_zone_remainder)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec_prerun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exec_postrun)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ioscheduler)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup_weight)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cgroup_nodelete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --uid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --gid)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --thinkcycles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_backlog_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_only)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_state_load)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --experimental_verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_percentage)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_verify_zero)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_backlog)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --trim_backlog_batch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_header_seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify_policy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs)
            opts="-h -V --json --archive --color --help --version list prune wear show verify recover reindex tag delete"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__delete)
            opts="-y -h -V --yes --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__list)
            opts="-h -V --tag --workload --target --since --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__prune)
            opts="-y -h -V --tag --workload --target --since --keep --older-than --dry-run --yes --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --tag)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --target)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --older-than)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__recover)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__reindex)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__show)
            opts="-h -V --markdown --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__tag)
            opts="-d -h -V --delete --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__verify)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__runs__subcmd__wear)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__settings)
            opts="-h -V --json --archive --color --help --version list restore"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__settings__subcmd__list)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__settings__subcmd__restore)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__soak)
            opts="-h -V --for --passes --size --rate --buffered --mode --busy --no-trim --on-finding --hook --no-scrub --witness --resume --overwrite --destroy --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --passes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --mode)
                    COMPREPLY=($(compgen -W "sweep churn" -- "${cur}"))
                    return 0
                    ;;
                --on-finding)
                    COMPREPLY=($(compgen -W "continue stop" -- "${cur}"))
                    return 0
                    ;;
                --hook)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --witness)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --resume)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__trace)
            opts="-o -h -V --output --root --device --for --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                -o)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --root)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --device)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__tune)
            opts="-h -V --list --restore --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --list)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__watch)
            opts="-i -n -h -V --interval --count --csv --live --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --interval)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --count)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --csv)
                    COMPREPLY=($(compgen -W "narrows iostat dstat" -- "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__why)
            opts="-h -V --confirm --overwrite --destroy --read-registers --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --destroy)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__workloads)
            opts="-h -V --json --archive --color --help --version list show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__workloads__subcmd__list)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        narrows__subcmd__workloads__subcmd__show)
            opts="-h -V --json --archive --color --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --archive)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

_narrows_names() {
    _narrows "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" names
    [[ $cur == -* ]] && return
    names=$("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
    [[ -n $names ]] || return
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur"; [[ -n $cur ]] && compgen -f -- "$cur")
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _narrows_names -o nosort -o bashdefault -o default narrows
else
    complete -F _narrows_names -o bashdefault -o default narrows
fi
