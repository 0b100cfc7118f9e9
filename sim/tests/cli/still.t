#!/bin/sh
# still.t -- a program that stands still but for its timers is judged as what it is; one that works
# by the clock for longer than a run may take is not.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
source=$root/sim/tests/cli/lib/program/still.c
ok "it builds" "$cc" -D_GNU_SOURCE -O0 -g -w -o still "$source" -pthread

while IFS='|' read -r what verdict; do
    same "$what: status" \
        "$(status run ./still --runs 1000 --fail-fast --no-shrink --record none -- "$what")" 1
    ok "$what: $verdict" grep -q "^FAIL still .*$verdict" out.txt
done <<'END'
lost|lost-wakeup
loops|deadlock
locked|deadlock
ticks|time-limit
END
ok "the message says what goes on" \
    sh -c "tr -s '\n ' '  ' <out.txt | grep -q 'the run is not over after 3600000 ms'"
status run ./still --runs 10 --fail-fast --no-shrink --record none -- loops >/dev/null
tr -s '\n ' '  ' <out.txt >line.txt
ok "a loop that beats" grep -q "nothing but timers has happened: each thread that" line.txt

while read -r what runs; do
    same "$what: a server with a timer is idle" \
        "$(status run ./still --runs "$runs" --record none -- "$what")" 0
    ok "$what: it says so" grep -q "$runs of these idle" out.txt
done <<END
serves $(few 20 2)
fast $(few 20 2)
says $(few 20 2)
chores 2
END
done_testing
