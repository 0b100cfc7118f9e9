# Completion of rewake for bash; made by `rewake completion bash`.
#
# Words are taken from the line: bash splits its own at colons and equal signs, which run:12 and
# --strategy=pct have. It also inserts the answer after the last of these.
#
# SPDX-License-Identifier: Apache-2.0
_rewake_list() {
    "$program" list ${library:+"$library"} "$@" --json 2>/dev/null
}

_rewake_names() {
    _rewake_list | sed -n 's/.*"event":"listed","name":"\([^"]*\)".*/\1/p'
}

_rewake_params() {
    _rewake_list | grep -o '{"name":"[^"]*"' | sed 's/.*"\(.*\)"/\1=/' | sort -u
}

_rewake_runs() {
    "$program" query "SELECT 'run:' || run AS name FROM failures WHERE token NOTNULL ORDER BY run DESC LIMIT 99" \
        ${db:+--db "$db"} --json 2>/dev/null | sed -n 's/.*"\(run:[0-9]*\)".*/\1/p'
}

_rewake_offer() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"; [[ -z $2 ]] || compgen -f -- "$current")
    [[ -z $2 ]] || compopt -o filenames 2>/dev/null
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
    fi
}

# `last` is the option before the word to complete, `place` the index of that argument.
_rewake() {
    local IFS=$' \t\n' line=${COMP_LINE:0:COMP_POINT} words i
    local last= place=0 library= db= options= first= names= runs= files=
    read -ra words <<<"$line"
    [[ $line != *[[:blank:]] ]] || words+=('')
    local program=${words[0]/#\~/$HOME} current=${words[${#words[@]} - 1]}
    for ((i = 2; i < ${#words[@]} - 1; i++)); do
        if [[ -n $last ]]; then
            [[ $last != --db ]] || db=${words[i]}
            last=
            continue
        fi
        case ${words[i]} in
        *.so | *.so.*) [[ $place -gt 0 ]] || library=${words[i]/#\~/$HOME} ;;
        --db=*) db=${words[i]#*=} ;;
        @valued@) last=${words[i]} ;;
        -*) ;;
        *) place=$((place + 1)) ;;
        esac
    done
    if [[ ${#words[@]} -le 2 ]]; then
        _rewake_offer '@names@help --version'
        return
    fi
    if [[ $current == --*=* ]]; then
        last=${current%%=*} current=${current#*=}
    fi
    case $last in
@values@    ?*) COMPREPLY=(); return ;;
    esac
    case ${words[1]} in
@commands@    esac
    if [[ $current == -* ]]; then
        _rewake_offer "$options"
    elif [[ -n $first && $place -eq 0 ]]; then
        _rewake_offer "$first"
    else
        [[ -z $names ]] || names=$(_rewake_names)
        [[ -z $runs ]] || runs=$(_rewake_runs)
        _rewake_offer "$names $runs" "$files"
    fi
}
complete -o bashdefault -F _rewake rewake
