#compdef rewake
# Completion of rewake for zsh; made by `rewake completion zsh`.
#
# SPDX-License-Identifier: Apache-2.0
_rewake_list() {
    local library=
    [[ $rewake_library == *.so* ]] && library=$rewake_library
    $rewake_program list ${library:+"$library"} --json 2>/dev/null
}

_rewake_params() {
    local -a params
    params=(${(f)"$(_rewake_list | grep -o '{"name":"[^"]*"' |
        sed 's/.*"\(.*\)"/\1=/' | sort -u)"})
    compadd -S '' -a params
}

_rewake_rest() {
    local -a names runs
    [[ -n $1 ]] && names=(${(f)"$(_rewake_list |
        sed -n 's/.*"event":"listed","name":"\([^"]*\)".*/\1/p')"})
    [[ -n $2 ]] && runs=(${(f)"$($rewake_program query "SELECT 'run:' || run AS name FROM failures WHERE token NOTNULL ORDER BY run DESC LIMIT 99" \
        ${rewake_db:+--db "$rewake_db"} --json 2>/dev/null |
        sed -n 's/.*"\(run:[0-9]*\)".*/\1/p')"})
    (( $#names )) && compadd -a names
    (( $#runs )) && compadd -a runs
    [[ -n $3 ]] && _files
}

_rewake() {
    local rewake_program=${~words[1]} rewake_library=${~words[3]} rewake_db=
    (( $words[(I)--db] )) && rewake_db=$words[$words[(I)--db] + 1]
    local -a commands
    commands=(
@commands@    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@arguments@    esac
}

_rewake "$@"
