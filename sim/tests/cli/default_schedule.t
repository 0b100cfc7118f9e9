#!/bin/sh
# default_schedule.t -- run 0 of a sweep; how failures are named, and listed last.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- One that fails. ----
same "it fails: status" "$(status run canary/deadlock --runs 5 --jobs 2 --db a.db)" 1
ok "it is named" grep -q '^FAIL canary/deadlock: deadlock in the default schedule (run:1)$' out.txt
same "it is reported once" "$(grep -c '^FAIL canary/deadlock: deadlock' out.txt)" 1
ok "it counts" grep -q '^FAIL canary/deadlock  *6 runs .* first in the default schedule$' out.txt
ok "its own line" grep -q '^default schedule: 1 run, 0 passed, 1 failed$' out.txt
same "failures come last, but for what is next" "$(tail -n 2 out.txt | head -n 1)" \
    'failed: canary/deadlock: deadlock in the default schedule (run:1)'
same "its row" "$(sqlite3 a.db "SELECT number, seed, tape IS NULL, d.options, news FROM runs JOIN
    details AS d USING (run) WHERE run = 1")" '-1|0|1|{}|1'
same "the row and the count agree" "$(sqlite3 a.db "SELECT runs, (SELECT sum(v.runs) FROM
    sweep_verdicts AS v), (SELECT count(*) FROM runs WHERE verdict <> 0) = (SELECT sum(v.runs) FROM
    sweep_verdicts AS v WHERE verdict <> 0) FROM sweeps")" '6|6|1'
same "it replays: status" "$(status replay run:1 --db a.db)" 1
ok "it replays: the same" grep -q 'same failure, ' out.txt
same "its token replays: status" \
    "$(status replay "$(sqlite3 a.db 'SELECT token FROM details WHERE run = 1')" --db a.db)" 1
same "explore --bound 0 makes the same run" \
    "$(rewake explore canary/deadlock --bound 0 --db e.db >/dev/null
    sqlite3 e.db 'SELECT verdict, oracle, steps FROM runs WHERE verdict <> 0')" \
    "$(sqlite3 a.db 'SELECT verdict, oracle, steps FROM runs WHERE run = 1')"
rewake run canary/deadlock --runs 5 --db a.db >out.txt
ok "it is remembered" grep -q '^remembered: .*: deadlock still fails$' out.txt
ok "... and named by its row" grep -q '^failed: .*: deadlock (run:1)$' out.txt
ok "... and made once: the sweep" \
    grep -q '^FAIL canary/deadlock  *5 runs  2 pass  3 deadlock ' out.txt
ok "... and made once: all runs" grep -q '^6 runs, 1 of them remembered: 2 passed, 4 failed' out.txt
ok "... and made once: its line" grep -q '^default schedule: 1 run, 0 passed, 1 failed$' out.txt
same "... and made once: its row" "$(sqlite3 a.db "SELECT count(*), group_concat(DISTINCT f.run)
    FROM runs AS r, failed_again AS f WHERE r.number < 0")" '1|1'
rewake run canary/deadlock --runs 5 -O step_ns=7 --record all --db a.db >out.txt
ok "... under other options it is another run" grep -q '^FAIL canary/deadlock  *6 runs ' out.txt
# What is written of it is written at once: where its count cannot be, its row is not there.
rewake run articles/s3/echo-server --runs 1 --db t.db >/dev/null
sqlite3 t.db "CREATE TRIGGER refuse BEFORE INSERT ON sweep_verdicts WHEN new.verdict <> 0
    BEGIN SELECT raise(ABORT, 'refused'); END"
same "the row and the count are one transaction: status" \
    "$(status run canary/deadlock --runs 5 --db t.db)" 70
same "the row and the count are one transaction" \
    "$(sqlite3 t.db 'SELECT count(*) FROM runs WHERE verdict <> 0')" 0
same "--fail-fast: status" "$(status run canary/deadlock --fail-fast --fresh --db f.db)" 1
ok "--fail-fast stops there" grep -q '^FAIL canary/deadlock  *1 run   *1 deadlock' out.txt
ok "--fail-fast: it is said" grep -q '(stopped at the first failure)$' out.txt
same "--expect: it is as expected" "$(status run canary/deadlock --runs 5 --expect --db x.db)" 0
ok "--expect: it is not listed" not_in out.txt '^failed: '
same "in JSON" "$(rewake run canary/deadlock --runs 5 --record none --json |
    grep -o '"default_schedule":"[a-z]*"\|"default_schedules[a-z_]*":[0-9]*' | tr '\n' ' ')" \
    '"default_schedule":"deadlock" "default_schedules":1 "default_schedules_failed":1 '
rewake run canary/deadlock --runs 5 --db j.db --junit j.xml --fresh >out.txt
ok "in JUnit" grep -q 'failures="1"' j.xml
ok "... by its name" \
    grep -q 'of 6 runs failed this way; this is run:1, the default schedule\.' j.xml

# ---- One that passes; where it is not made. ----
same "it passes: status" "$(status run articles/s3/echo-server --runs 5 --db p.db)" 0
ok "it passes: its own line" \
    grep -q '^default schedule: 1 run, 1 passed, 0 failed$' out.txt
ok "it passes: it counts in no figure" \
    grep -q '^PASS articles/s3/echo-server  *5 runs  5 pass$' out.txt
for strategy in baseline exhaustive dpor; do
    rewake run canary/deadlock --runs 3 --strategy $strategy --record none --json >out.txt
    ok "$strategy makes it anyway" grep -q '"default_schedule":null' out.txt
done
digest() {
    rewake run zoo/tokio-4497/broken --record none --json "$@" | grep -o '"digest":"[0-9a-f]*"'
}
same "it has no part in the digest" "$(digest --seeds 3-3 --strategy random)" \
    "$(rewake run zoo/tokio-4497/broken --seeds 3-3 --strategy random --record all --db d.db >/dev/null
    sqlite3 d.db "SELECT '\"digest\":\"' || printf('%016x', digest) || '\"' FROM sweeps")"

# ---- Parts: the first one makes it. ----
for i in 1 2 3; do
    rewake run canary/deadlock --runs 96 --shard $i/3 --no-shrink --db part$i.db >part$i.txt
done
ok "part 1 makes it" grep -q '^default schedule: 1 run, ' part1.txt
ok "part 2 does not" not_in part2.txt '^default schedule'
rewake merge parts.db part2.db part3.db part1.db >/dev/null
rewake run canary/deadlock --runs 96 --shard 1/1 --no-shrink --db whole.db >/dev/null
figures="SELECT runs, digest FROM sweeps; SELECT verdict, runs FROM sweep_verdicts;
    SELECT number, seed, digest FROM runs ORDER BY 1; SELECT token FROM remembered"
same "merged it is there once" "$(sqlite3 parts.db "$figures")" "$(sqlite3 whole.db "$figures")"
same "... and counts once" "$(sqlite3 parts.db 'SELECT runs FROM sweeps')" 97

# ---- Names. ----
rewake run canary/lost-wakeup --runs 50 --no-shrink --db l.db >out.txt
ok "a strategy that learns: no seed" not_in out.txt 'at seed'
ok "... but the run" grep -q '^FAIL canary/lost-wakeup: lost-wakeup (run:[0-9]*)$' out.txt
same "... in the summary: after how many it was" "$(grep -o 'first after [0-9]* run' out.txt)" \
    "$(sqlite3 l.db "SELECT 'first after ' || min(number) || ' run' FROM runs
        WHERE verdict <> 0 AND number >= 0")"
ok "... and last" grep -q '^failed: canary/lost-wakeup: lost-wakeup (run:[0-9]*)$' out.txt
rewake run canary/lost-wakeup --fresh --runs 50 --no-shrink --db l.db >again.txt
same "a second command: as many, another row" "$(grep -o 'first after [0-9]* run' again.txt)" \
    "$(grep -o 'first after [0-9]* run' out.txt)"
rewake run canary/lost-wakeup --runs 50 --no-shrink --record none >out.txt
ok "without a database: how many before it" grep -q ' first after [0-9]* runs\{0,1\}$' out.txt
rewake run canary/lost-wakeup --strategy random --runs 50 --no-shrink --db m.db >out.txt
seed=$(sed -n 's/^FAIL canary.*: lost-wakeup at seed \([0-9]*\) (run:[0-9]*)$/\1/p' out.txt)
ok "random: the seed" test -n "$seed"
same "... alone makes it again: status" \
    "$(status run canary/lost-wakeup --strategy random --seeds "$seed-$seed" --fresh --db n.db)" 1
ok "... without a warning" \
    not_in err.txt '^rewake' # A slow machine shows progress.
(void=$(status run articles/s3/echo-server --seeds 7-7 --db p.db))
ok "--seeds N-N warns where it learns" \
    grep -q '^rewake run: warning: --seeds 7-7: portfolio learns' err.txt
ok "... in one line" one_line err.txt
done_testing
