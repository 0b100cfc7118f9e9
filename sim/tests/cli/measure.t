#!/bin/sh
# measure.t -- `rewake measure`: what it says and stores, and that it measures the same each time.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "one strategy: status" \
    "$(status measure kernel/lost-wakeup/broken 'canary/invariant' --strategy random --runs 200 \
        --db m.db)" 0
ok "a row each" test "$(grep -c '^kernel/lost-wakeup  *[0-9]\|^canary/invariant  *[0-9]' out.txt)" \
    -eq 2
ok "no line is wider than a terminal" not_in out.txt '^.\{101\}'
same "what is measured is stored" \
    "$(rewake query "SELECT strategy, found, verdict FROM measure_table WHERE scenario = \
        'kernel/lost-wakeup/broken'" --json --db m.db)" \
    '{"strategy":"random","found":"20/20","verdict":"lost-wakeup"}'
# The figure is that of real runs: the first failing seed of the 20 trials, one by one.
sum=0
for trial in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
    first=$((1 + trial * 1000000))
    rewake run kernel/lost-wakeup/broken --seeds $first-$((first + 199)) --fail-fast --record none \
        --fresh --strategy random >run.txt 2>/dev/null
    seed=$(sed -n 's/^FAIL kernel.* first at seed \([0-9]*\).*/\1/p' run.txt)
    sum=$((sum + seed - first + 1))
done
same "the sum of runs is that of the sweeps" \
    "$(rewake query "SELECT trial_runs FROM measures WHERE scenario LIKE 'kernel%'" --json \
        --db m.db)" "{\"trial_runs\":$sum}"
rewake measure kernel/lost-wakeup/broken --strategy random --runs 200 --db m.db >/dev/null
same "measured again, it has one row" \
    "$(rewake query "SELECT count(*) AS n FROM measures WHERE scenario LIKE 'kernel%'" --json \
        --db m.db)" '{"n":1}'
# All strategies.
same "with 3 workers: status" "$(status measure kernel/reorder-3/broken kernel/stack/broken \
    --runs 200 --record none --jobs 3)" 0
mv out.txt three.txt
same "with 1 worker: status" "$(status measure kernel/reorder-3/broken kernel/stack/broken \
    --runs 200 --record none --jobs 1)" 0
ok "the same for 1 and 3 workers" diff three.txt out.txt
same "as JSON: status" "$(status measure canary/invariant --runs 50 --json --record none)" 0
ok "every line is JSON" every_line_is_json out.txt
ok "a line for each strategy" grep -q '"strategy":"exhaustive"' out.txt
same "what cannot fail is not measured: status" "$(status measure 'articles/*' --record none)" 4
ok "it says so in one line" one_line err.txt
done_testing
