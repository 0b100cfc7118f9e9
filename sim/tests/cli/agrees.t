#!/bin/sh
# agrees.t -- threads, signals, files and sockets of a real kernel: what a program prints there is
# among what it prints in runs.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
# agrees NAME LINES: NAME.c prints so many lines and more natively, and each of them in a run.
agrees() {
    ok "$1 builds" "$cc" -D_GNU_SOURCE -O1 -g -w \
        "$root/sim/tests/cli/lib/program/$1.c" -o "$1" -pthread
    ./"$1" >native.txt
    ok "$1, natively: $2 lines and more" test "$(wc -l <native.txt)" -ge "$2"
    # Sleeps order some of its threads, as they mostly do natively.
    same "$1, 200 runs: status" \
        "$(status run ./"$1" -O slow_one_in=0 --runs 200 --fresh --db p.db)" 0
    rm -f a.db
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        rewake run ./"$1" --seeds $seed-$seed --strategy random --no-shrink --record all \
            --db a.db -- fail >/dev/null 2>&1
    done
    rewake query "SELECT DISTINCT text FROM trace WHERE kind = 'out'" --json --db a.db |
        sed 's/^{"text":"\(.*\)"}$/\1/' | sort -u >runs.txt
    same "$1: each line of the kernel is one of a run" \
        "$(sort -u native.txt | comm -23 - runs.txt)" ""
    # A wait at a condition variable may end for nothing, also one whose time is over.
    same "$1: nothing else is" \
        "$(grep -vE '^(serial|cond): ' runs.txt | sed 's/:.*//' | uniq -d)" ""
}
agrees calls 35
agrees amounts 23
agrees agrees 45
same "which thread of a barrier is the serial one is a decision" \
    "$(grep -c '^serial: ' runs.txt)" 2
done_testing
