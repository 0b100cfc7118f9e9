#!/bin/sh
# call_faults.t -- --faults: a call of a program that fails, and whose result the program does not
# look at, is found, minimized and explained with its name, error and line.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-* | */cov-*) ;;
*)
    echo '1..0 # SKIP programs are not run by this build'
    exit 0
    ;;
esac
source=$root/sim/tests/cli/lib/program/checks.c
ok "a program builds" $cc -g -O1 -w -o checks "$source" -pthread
rewake run ./checks --runs 1 --record none -- none >out.txt 2>&1
if grep -q refused out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
same "names: one that is none" "$(status run ./checks --faults=cancel,nothing -- none)" 2
ok "... says which there are" grep -q 'none of cancel, clock' err.txt
same "names: an empty one" "$(status run ./checks --faults= -- none)" 2
same "names and mask are the same" \
    "$(rewake run ./checks --runs 300 --faults=net,calls --fresh --json --db m.db -- none |
        grep -o '"digest":"[^"]*"' | head -n 1)" \
    "$(rewake run ./checks --runs 300 -O faults=192 --fresh --json --db m.db -- none |
        grep -o '"digest":"[^"]*"' | head -n 1)"
same "all are checked: passes" \
    "$(status run ./checks --runs "$(few 2000 200)" --fresh --faults=calls --db n.db -- none)" 0
for call in malloc fopen pthread_create accept pipe eventfd epoll_create1 timerfd_create socket \
    open; do
    same "$call: no fault by default" \
        "$(status run ./checks --runs "$(few 500 50)" --fresh --record none -- $call)" 0
    rm -f f.db
    same "$call: found" "$(status run ./checks --runs 1000 --fresh --fail-fast --faults=calls \
        --db f.db -- $call)" 1
    ok "$call: one decision" grep -qE '^(Minimized|Already minimal): 1 scheduling choice' out.txt
    line=$(grep -n -m1 -F "/* $call */" "$source" | cut -d: -f1)
    same "$call: explained" "$(status explain ./checks "$(first_failure f.db)" --db f.db)" 1
    tr '\n' ' ' <out.txt >one.txt
    fails="the call $call\(\) fails with E[A-Z]+ \(fault\) of .main."
    ok "$call: named, with its error and line" grep -qE "$fails at checks.c:$line " one.txt
done
done_testing
