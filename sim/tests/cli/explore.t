#!/bin/sh
# explore.t -- `rewake explore`: all runs, or how far it got; its tokens replay alone.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "all within a bound, and none fails: status" "$(status explore zoo/a06/fixed --bound 2)" 0
ok "it says that it is complete" \
    grep -q 'zoo/a06/fixed: complete within bound 2: [0-9]* runs' out.txt
ok "no line is wider than a terminal" not_in out.txt '^.\{101\}'
grep -o 'bound 2: [0-9]* runs' out.txt >exhaustive.txt
same "by delay: status" "$(status explore zoo/a06/fixed --bound 2 --strategy delay)" 0
grep -o 'bound 2: [0-9]* runs' out.txt >delay.txt
ok "as many runs by delay as by exhaustive" diff exhaustive.txt delay.txt

same "a bug: status" "$(status explore zoo/a06/broken --strategy delay --json)" 1
ok "every line is JSON" every_line_is_json out.txt
token=$(sed -n 's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' out.txt | head -n 1)
same "its token replays alone: status" "$(status replay "$token")" 1
ok "as the failure that it was" grep -q lost-wakeup out.txt

same "runs used up: status" "$(status explore zoo/a06/fixed --bound 3 --runs 100)" 5
ok "it says so" grep -q 'not complete: 100 runs' out.txt
ok "and about how much that was" grep -q 'that is about [0-9.]* % of all' out.txt

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

same "a strategy without an end: status" "$(status explore zoo/a06/fixed --strategy random)" 2
ok "is refused in one line" one_line err.txt
same "a bound for dpor: status" "$(status explore zoo/a06/fixed --strategy dpor --bound 2)" 2
ok "is refused in one line too" one_line err.txt
same "no such scenario: status" "$(status explore nothing/of-that-name)" 4
done_testing
