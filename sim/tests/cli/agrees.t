#!/bin/sh
# agrees.t -- threads and signals of a real kernel: what a program prints there is among what it
# prints in runs.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
[ $asan = no ] || {
    ok "a build with a sanitizer runs no programs" true
    done_testing
    exit
}
ok "a program builds" $cc -D_GNU_SOURCE -O1 -g -w \
    "$root/sim/tests/cli/lib/program/agrees.c" -o agrees -pthread
./agrees >native.txt
ok "natively: 45 lines and more" test "$(wc -l <native.txt)" -ge 45
same "200 runs: status" "$(status run ./agrees --runs 200 --fresh --db p.db)" 0
for seed in 1 2 3 4 5 6 7 8 9 10; do
    rewake run ./agrees --seeds $seed-$seed --strategy random --no-shrink --record all --db a.db \
        -- fail >/dev/null 2>&1
done
rewake query "SELECT DISTINCT text FROM trace WHERE kind = 'out'" --json --db a.db |
    sed 's/^{"text":"\(.*\)"}$/\1/' | sort -u >runs.txt
same "each line of the kernel is one of a run" "$(sort -u native.txt | comm -23 - runs.txt)" ""
same "which thread of a barrier is the serial one is a decision" \
    "$(grep -c '^serial: ' runs.txt)" 2
# A wait at a condition variable may end for nothing, also one whose time is over.
same "nothing else is" "$(grep -vE '^(serial|cond): ' runs.txt | sed 's/:.*//' | uniq -d)" ""
done_testing
