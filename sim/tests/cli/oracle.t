#!/bin/sh
# oracle.t -- scenarios/oracle: no alarm on a correct program, the right verdict on a broken one.
#
# Each program there guards a rule by which the judge decides whether a blocked task could make
# progress; the head of its file names the rule.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

rewake list 'oracle/*' --json | sed -n 's/.*"name":"\([^"]*\)".*/\1/p' >names.txt
fixed=$(grep -v '/broken' names.txt)
# One that spins on the clock costs much real time in each run; explain.t has it.
broken=$(grep '/broken' names.txt | grep -v '^oracle/spins-on-the-clock/')
ok "scenarios: at least 14 correct ones" test "$(echo "$fixed" | wc -l)" -ge 14
ok "scenarios: at least 6 broken ones" test "$(echo "$broken" | wc -l)" -ge 6

# ---- A correct program gives no alarm, in any order, at any audit rate. --------------------------

# no_alarm ARGS...: 300 runs of each correct program pass.
no_alarm() {
    # shellcheck disable=SC2086 # Several names.
    ok "correct programs, $*: no alarm" \
        rewake run $fixed --runs 300 --fresh --record none --no-shrink "$@"
}
for order in 1 2 3 4 5 6; do
    for audit in 1 32; do
        no_alarm -O order=$order -O audit_one_in=$audit
        no_alarm -O order=$order -O audit_one_in=$audit --strategy random
    done
done
no_alarm -O audit_one_in=1 -O spurious_one_in=2 -O slow_one_in=2

# ---- A broken program ends in its verdict, by its oracle, and in no other. -----------------------

# shellcheck disable=SC2086 # Several names.
rewake run $broken --runs 300 --strategy random --fresh --no-shrink --db random.db >/dev/null 2>&1
# shellcheck disable=SC2086
rewake run $broken --runs 300 --fresh --no-shrink --db portfolio.db >/dev/null 2>&1

# verdicts DB NAME: what the failing runs of oracle/NAME ended in.
verdicts() {
    sqlite3 -separator ' ' "$1" "SELECT DISTINCT verdict, oracle FROM failures
        WHERE scenario = 'oracle/$2' ORDER BY 1, 2"
}

# failures NAME: how many of 300 random runs failed.
failures() {
    sqlite3 random.db "SELECT count(*) FROM failures WHERE scenario = 'oracle/$1'"
}

while read -r name at_least verdict; do
    for db in random.db portfolio.db; do
        same "$name: each failing run is this verdict, by this oracle ($db)" \
            "$(verdicts $db "$name")" "$verdict"
    done
    ok "$name: found in at least $at_least of 300 runs" test "$(failures "$name")" -ge "$at_least"
    sed -i "\|^oracle/$name\$|d" names.txt
done <<'END'
another-slot/broken 300 deadlock stall
batch-writer/broken 300 deadlock stall
displaced-waker/broken 300 deadlock stall
renewed-on-another-line/broken 300 deadlock stall
flag-then-sleep/broken 151 late-wakeup audit-quiet
flag-then-sleep/broken-beyond-slack 151 late-wakeup audit-quiet
slow-livelock/broken 1 lost-wakeup rewake
slow-livelock/broken-idle 1 livelock limit
many-executors/broken-never-looks 300 starvation limit
END
same "each broken program was tried" \
    "$(grep '/broken' names.txt | grep -v '^oracle/spins-on-the-clock/')" ""

done_testing
