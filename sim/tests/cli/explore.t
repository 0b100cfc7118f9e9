#!/bin/sh
# explore.t -- `rewake explore`: all runs, or how far it got; its tokens replay alone.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "all within a bound, and none fails: status" "$(status explore zoo/tokio-4497/fixed --bound \
    2)" 0
ok "it says that it is complete" \
    grep -q 'zoo/tokio-4497/fixed: complete within bound 2: [0-9]* runs' out.txt
ok "no line is wider than a terminal" not_in out.txt '^.\{101\}'
grep -o 'bound 2: [0-9]* runs' out.txt >exhaustive.txt
same "by delay: status" "$(status explore zoo/tokio-4497/fixed --bound 2 --strategy delay)" 0
grep -o 'bound 2: [0-9]* runs' out.txt >delay.txt
ok "as many runs by delay as by exhaustive" diff exhaustive.txt delay.txt

same "a bug: status" "$(status explore zoo/tokio-4497/broken --strategy delay --json)" 1
ok "every line is JSON" every_line_is_json out.txt
token=$(sed -n 's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' out.txt | head -n 1)
run=$(sed -n 's/.*"event":"failure".*"run_id":\([0-9]*\).*/\1/p' out.txt | head -n 1)
same "its token replays alone: status" "$(status replay "$token")" 1
ok "as the failure that it was" grep -q lost-wakeup out.txt

same "it is stored: status of its replay" "$(status replay "run:$run")" 1
same "and it can be shown: status" "$(status show "run:$run")" 0
ok "with the step that owed the wake" grep -q 'lost-wakeup' out.txt
same "the sweep is stored as a whole" \
    "$(rewake query "SELECT strategy, complete FROM sweeps ORDER BY sweep DESC LIMIT 1" --json |
        tr -d ' ')" '{"strategy":"delay","complete":1}'
mkdir none && cd none || exit 1
same "with --record none: status" "$(status explore zoo/tokio-4497/broken --record none)" 1
ok "nothing is stored" test ! -e .rewake
ok "and nothing is said of it" not_in out.txt 'run:'
cd .. || exit 1

same "runs used up: status" "$(status explore zoo/tokio-4497/fixed --bound 3 --runs 100)" 5
ok "it says so" grep -q 'not complete: 100 runs' out.txt
ok "and about how much that was" grep -q 'about [0-9.]* % of all runs, estimated' out.txt

same "one that declares all it shares: status" "$(status explore kernel/lost-wakeup/fixed)" 0
ok "is explored by dpor" grep -q 'by dpor' out.txt
ok "and completely" grep -q 'kernel/lost-wakeup/fixed: complete: [0-9]* runs' out.txt
same "dpor finds its bug: status" "$(status explore kernel/lost-wakeup/broken)" 1
token=$(sed -n 's/.*replay kernel//; s/.*replay: rewake replay \(rw1:.*\)/\1/p' out.txt | head -n 1)
same "whose token replays alone: status" "$(status replay "$token")" 1
same "one that does not: status" "$(status explore canary/invariant --strategy dpor --runs 50)" 1
ok "says that nothing could be left out" grep -q 'any two steps were taken to conflict' out.txt
same "a run that ends its process is one of many: status" \
    "$(status explore canary/crash --strategy delay --runs 20)" 1
ok "and the others are made" grep -q 'complete.*: [0-9]* runs' out.txt

same "a strategy without an end: status" "$(status explore zoo/tokio-4497/fixed --strategy \
    random)" 2
ok "is refused in one line" one_line err.txt
same "a bound for dpor: status" "$(status explore zoo/tokio-4497/fixed --strategy dpor --bound 2)" 2
ok "is refused in one line too" one_line err.txt
same "neither a scenario nor a library: status" "$(status explore)" 2
ok "is refused in one line as well" one_line err.txt
build_library bad
same "a library with several scenarios: status" "$(status explore ./bad.so)" 2
ok "names them" grep -q 'There are bad/abort' err.txt
ok "in one line" one_line err.txt
cat >one.c <<'END'
#include "sim/rewake.h"
static rt_poll
poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}
static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    for (int i = 0; i < 2; i++) {
        struct rt_task *task = sim_new(world, struct rt_task);
        rt_task_init(task, poll, NULL, "done");
        sim_spawn(rt, task);
    }
}
SIM_SCENARIO(only, .name = "one/only", .about = "Two tasks.", .setup = setup);
END
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -g -shared -fPIC $library_flags -I"$root" one.c -o one.so
same "a library with one scenario: status" "$(status explore ./one.so)" 0
ok "needs no name" grep -q 'one/only: complete within bound 2: 2 runs' out.txt
same "no such scenario: status" "$(status explore nothing/of-that-name)" 4
done_testing
