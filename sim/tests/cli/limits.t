#!/bin/sh
# limits.t -- no value of an option that is accepted accuses a correct program.
#
# Each option of a run is tried at its smallest value, its largest one, and 1, with programs that
# wait by giving way, sleep, retry, restart what was cancelled, and share a loop.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
sample='zoo/tokio-4291/fixed zoo/monoio-322/fixed zoo/async-lock-41/fixed zoo/wstd-73/fixed
    zoo/libuv-4245/fixed zoo/apollo-10872/fixed
    liveness/retry-storm/fixed foreign/executor/fixed foreign/evented/fixed articles/s1/race-timeout
    articles/s2/maybe-yield articles/s3/deadline articles/s3/echo-server articles/s3/sharded-store
    articles/s3/three-tasks articles/s4/mock-time articles/s5/wander'
runs=$(few 12 2)

# What a run must keep, and what it must survive, is given with these, so that no verdict is false.
claims='faults steps_max time_ns_max cancel_at converge_steps converge_ns'

# range NAME: the smallest and the largest value, as the refusal of another one says.
range() {
    "$REWAKE" run zoo/tokio-4291/fixed --runs 1 --record none -O "$1=18446744073709551615" 2>&1 |
        sed -n 's/.*is outside its range, \([0-9]*\) to \([0-9]*\).*/\1 \2/p'
}

# values NAME: those that are tried.
values() {
    range "$1" | while read -r min max; do
        printf '%s\n' "$min" "$max"
        [ "$min" -gt 1 ] || echo 1
    done | sort -un
}

# accused ARGS...: the scenarios of the sample that do not pass all their runs.
accused() {
    # shellcheck disable=SC2086 # Several names.
    rewake run $sample --runs $runs --fresh --record none --no-shrink "$@" >swept.txt 2>&1
    echo $? >status
    grep ' first ' swept.txt | sed 's/  */ /g' | tr '\n' ';'
    [ "$(cat status)" -le 1 ] || cat swept.txt
}

rewake run --help | sed -n 's/^  \([a-z_][a-z_]*\)  .*/\1/p' | while read -r name; do
    [ -z "$(range "$name")" ] || echo "$name"
done >options.txt
ok "the help names the options" test "$(wc -l <options.txt)" -eq 20
while read -r name; do
    case " $claims " in
    *" $name "*) continue ;;
    esac
    for value in $(values "$name"); do
        same "-O $name=$value accuses no correct program" "$(accused -O "$name=$value")" ""
    done
done <options.txt
same "all perturbations at once accuse no correct program" "$(accused -O spurious_one_in=1 \
    -O late_one_in=1 -O slow_one_in=1 -O fault_one_in=1)" ""
same "limits at their ends accuse no correct program" "$(accused -O livelock_steps=5000 \
    -O starvation_steps=500 -O fair_steps=500 -O step_ns=0)" ""

# ---- What is refused, with one line. ----
for wrong in step_ns=10001 livelock_steps=4999 starvation_steps=499 fair_steps=501; do
    refused "$wrong" 2 run zoo/tokio-4291/fixed --runs 1 -O "$wrong"
    ok "$wrong: says which values there are" grep -q 'is outside its range, ' err.txt
done

# ---- A task that spins is found also where time stands still. ----
same "a livelock at step_ns=0, --expect: status" "$(status run canary/livelock \
    zoo/tokio-4291/broken \
    --runs 100 -O step_ns=0 --expect --fresh --record none --no-shrink)" 0
done_testing
