#!/bin/sh
# truth.t -- a generated program, printed as a scenario in C, is the same program.
#
# It is compiled as a user's library; run by rewake, each seed makes the run that the interpreter of
# sim/tests/truth makes: the same verdict, steps and time.
#
# SPDX-License-Identifier: Apache-2.0
TRUTH=${TRUTH:-build/debug-gcc/truth}
case $TRUTH in
/*) ;;
*) TRUTH=$(pwd)/$TRUTH ;;
esac
. sim/tests/cli/common.sh

# build NUMBER
build() {
    "$TRUTH" -p "$1" >"p$1.c"
    # shellcheck disable=SC2086 # Several flags.
    $cc -std=c17 -Wall -Wextra -Werror -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC \
        $library_flags -I"$root" "p$1.c" -o "p$1.so"
}

# Tasks and loops, correct and broken, that wait in every way.
for number in 25 67 89 313; do
    ok "program $number: builds without a warning" build $number
    "$TRUTH" -s $number -r 20 >expected.txt
    status run ./p$number.so --strategy random --seeds 1-20 -O audit_one_in=1 --record all --fresh \
        --db p.db >/dev/null
    sqlite3 p.db 'SELECT seed, verdict, steps, sim_ns FROM runs WHERE seed > 0 ORDER BY seed' \
        >found.txt
    ok "program $number: each run is the same" diff expected.txt found.txt
    rm -f p.db
done
same "a number that is none is refused" "$("$TRUTH" -p x 2>err.txt; echo $?)" 2
ok "in words" grep -q '^usage: truth' err.txt
done_testing
