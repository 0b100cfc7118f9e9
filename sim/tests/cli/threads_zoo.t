#!/bin/sh
# threads_zoo.t -- known bugs as programs with threads (scenarios/threads): is each found, with its
# verdict, and does its explanation name a function of its cause?
#
# ZOO is a pattern of names; FIXED is how many runs the fixed forms must pass.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-*) ;;
*)
    echo '1..0 # SKIP a program cannot be linked with this build of librewake-tsan'
    exit 0
    ;;
esac
programs=$root/scenarios/threads
# Explanations that name none of the functions: the only wake is one that no thread ever waits for.
known_misses='async-executor-103'

# build HOW NAME FORM [FLAG]: with `rewake cc`, or plain, with the compiler itself.
build() {
    how=$1
    source=$programs/$2.c
    program=$1-$2-$3
    shift 3
    case $how in
    cc) rewake cc -O1 -Wall -Wextra -Werror "$@" -o "$program" "$source" -pthread ;;
    plain) $cc -g -O1 -Wall -Wextra -Werror "$@" -o "$program" "$source" -pthread ;;
    esac
}

# head_of NAME WORDS: what follows them in the head of its file.
head_of() {
    sed -n "s/^ \* $2: \([^,.]*\).*/\1/p" "$programs/$1.c"
}

# The functions of its Cause line.
functions_of() {
    sed -n 's/^ \* Cause: //p' "$programs/$1.c" | sed 's/ or /\n/g' | awk '
        /^order, / { print $2; print $4; next }
        { print $NF }'
}

# names FILE FUNCTION...: an explanation in JSON names one of them with its line.
names() {
    file=$1
    shift
    for function in "$@"; do
        if grep -qE "\"function\":\"$function\",\"file\":\"[^\"]*\",\"line\":[0-9]+|\
\b$function\(\) \([^)]*:[0-9]+\)" "$file"; then
            return 0
        fi
    done
    return 1
}

# found HOW NAME
found() {
    rewake run "./$1-$2-broken" --runs 10000 --jobs 1 --fail-fast --fresh --json --no-shrink \
        --db found.db >found.json 2>err.txt
    same "$1: $2 is found: $(head_of "$2" 'Must end in')" \
        "$(sed -n 's/.*"event":"failure".*"verdict":"\([^"]*\)".*/\1/p' found.json | head -1)" \
        "$(head_of "$2" 'Must end in')"
    rewake explain "./$1-$2-broken" "$(token_of found.json)" --time 100s --json >explained.json \
        2>err.txt
    functions=$(functions_of "$2" | tr '\n' ' ')
    # shellcheck disable=SC2086 # Several functions.
    if names explained.json $functions; then
        ok "$1: $2: the explanation names $functions, and is no known miss" \
            test "$2" != "$known_misses"
    else
        ok "$1: $2: the explanation names $functions, or is a known miss" \
            test "$2" = "$known_misses"
    fi
    echo "# $1: $2: $(sed -n 's/.*"event":"scenario".*"runs":\([0-9]*\).*/\1/p' found.json) runs"
}

for file in "$programs"/*.c; do
    name=$(basename "$file" .c)
    # shellcheck disable=SC2254 # ZOO may be a pattern.
    case $name in ${ZOO:-*}) ;; *) continue ;; esac
    ways='plain cc'
    ! grep -q 'stdatomic\|^ \* Needs: rewake cc' "$file" || ways=cc
    for how in $ways; do
        ok "$how: $name builds" build $how "$name" broken
        ok "$how: $name builds, fixed" build $how "$name" fixed -DFIXED
        found $how "$name"
        same "$how: $name, fixed: passes" "$(status run "./$how-$name-fixed" --jobs 1 --fresh \
            --runs "${FIXED:-300}" --record none)" 0
    done
done

# ---- The README. ----
table=$root/scenarios/README.md
for file in "$programs"/*.c; do
    echo "$(basename "$file" .c) $(head_of "$(basename "$file" .c)" 'Must end in')"
done | sort >heads.txt
awk -F ' [|] ' '/^[|] `/ && NF == 5 { gsub(/[|` ]/, "", $1); print $1, $4 }' "$table" | sort \
    >rows.txt
ok "each program has its row, with its verdict" diff heads.txt rows.txt
same "each has one Cause line" "$(grep -c '^ [*] Cause: ' "$programs"/*.c | grep -v ':1$')" ''
done_testing
