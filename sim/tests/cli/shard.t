#!/bin/sh
# shard.t -- a sweep made in parts and merged is the sweep in one piece; what is no part is refused.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
scenarios='zoo/tokio-4497/broken articles/s3/echo-server'

# part I/N DB ARGS...: that part of the sweep.
part() {
    which=$1
    db=$2
    shift 2
    # shellcheck disable=SC2086 # Two scenarios.
    rewake run $scenarios --runs 330 --shard "$which" --db "$db" --jobs 1 --no-shrink "$@" \
        >"$db.txt" 2>&1
}

# Everything that a sweep is, by seed and not by the numbers of rows.
cat >dump.sql <<'END'
SELECT s.scenario, strategy, options, seed_first, runs, steps, sim_ns, digest, complete
    FROM sweeps AS s ORDER BY 1;
SELECT s.scenario, verdict, v.runs FROM sweep_verdicts AS v JOIN sweeps AS s USING (sweep)
    ORDER BY 1, 2;
SELECT s.scenario, first, last, stride FROM seeds JOIN sweeps AS s USING (sweep) ORDER BY 1, 2;
SELECT s.scenario, kind, site, other, first_run, c.runs FROM coverage AS c JOIN sweeps AS s
    USING (sweep) ORDER BY 1, 2, 3, 4;
SELECT s.scenario, t.strategy, t.runs, failures FROM sweep_strategies AS t JOIN sweeps AS s
    USING (sweep) ORDER BY 1, 2;
SELECT s.scenario, p.runs, seen, once, twice, level FROM sweep_species AS p JOIN sweeps AS s
    USING (sweep) ORDER BY 1;
SELECT s.scenario, g.site, what, text FROM goals AS g JOIN sweeps AS s USING (sweep) ORDER BY 1, 2;
SELECT s.scenario, number, seed, r.digest, r.steps, verdict, oracle, site, fresh, news, hex(tape)
    FROM runs AS r JOIN sweeps AS s USING (sweep) ORDER BY 1, 2;
SELECT scenario, verdict, oracle, site, token FROM remembered ORDER BY 1, 2, 3, 4;
END
dump() {
    sqlite3 "$1" <dump.sql
}

# ---- One piece, three parts, five parts; in any order; a part by two workers. ----
part 1/1 one.db --jobs 2
dump one.db >one.txt
for i in 1 2 3; do part $i/3 "three $i.db"; done
for i in 1 2 3 4 5; do part $i/5 five$i.db; done
same "a part that found a bug: status" "$(status run zoo/tokio-4497/broken --runs 330 --shard 2/3 \
    --no-shrink --db again.db --jobs 2)" 1
ok "a part says which it is" grep -q 'part 2 of 3 (units of 11 runs)' out.txt
ok "merge takes paths with blanks" rewake merge 'a b.db' 'three 1.db' 'three 2.db' 'three 3.db'
same "three parts are the sweep in one piece" "$(dump 'a b.db')" "$(cat one.txt)"
ok "another order" rewake merge c.db 'three 3.db' 'three 1.db' 'three 2.db'
same "... makes no difference" "$(dump c.db)" "$(cat one.txt)"
ok "two of five parts" rewake merge d.db five4.db five2.db
same "... are no whole sweep" "$(sqlite3 d.db 'SELECT DISTINCT parts, complete FROM shards_in')" \
    '2 of 5|0'
ok "what was merged is merged again, with the others" \
    rewake merge e.db five5.db d.db five3.db five1.db
same "five parts are the sweep in one piece" "$(dump e.db)" "$(cat one.txt)"
ok "all tokens of the parts are there" test \
    "$(sqlite3 e.db 'SELECT count(token) FROM details')" -ge \
    "$(sqlite3 one.db 'SELECT count(token) FROM details')"

# ---- Explanations are merged, with the runs that they show. ----
explained() {
    sqlite3 "$1" "SELECT r.seed, e.failing + 2 * e.run, e.passing + 2 * e.run, x.headline, x.at,
        (SELECT count(*) || ' ' || sum(n + argument) FROM events WHERE run = e.failing),
        (SELECT group_concat(text) FROM texts WHERE run = e.passing), t.digest, x.failing_token
        FROM explained AS e JOIN runs AS r USING (run) JOIN explanations AS x USING (run)
        JOIN explained_runs AS t ON t.shown = e.failing JOIN deciding AS d ON d.run = e.run"
}
ln -s "$root/scenarios" scenarios
for i in 1 2; do
    cp "three $i.db" explained$i.db
    ok "part $i is explained" rewake report --db explained$i.db -o pages$i --time 60s
done
ok "merge of explained parts" rewake merge why.db 'three 3.db' explained2.db explained1.db
both=$(explained explained1.db && explained explained2.db)
same "... has both explanations" "$(explained why.db | sort)" "$(echo "$both" | sort)"
lines='SELECT r.seed, count(*), sum(line), sum(length(text)) > 0 FROM explained_lines
    JOIN runs AS r USING (run) GROUP BY run'
both=$(sqlite3 explained1.db "$lines" && sqlite3 explained2.db "$lines")
same "... and their lines of source" "$(sqlite3 why.db "$lines" | sort)" "$(echo "$both" | sort)"
ok "... which there are" test -n "$both"
ok "... which are there" test "$(explained why.db | wc -l)" -ge 2
same "events are merged: the ledger of a failure" \
    "$(sqlite3 e.db "SELECT count(*) > 0 FROM wake_ledger WHERE run = (SELECT run FROM remembered)")" 1
same "run:ID is a run of the parts" "$(status replay "run:$(sqlite3 e.db 'SELECT run FROM remembered
    LIMIT 1')" --db e.db)" 1
same "a plain strategy: the same as without parts" "$(
    for i in 1 2 3; do part $i/3 plain$i.db --strategy random; done
    rewake merge plain.db plain2.db plain3.db plain1.db >/dev/null
    dump plain.db
)" "$(
    # shellcheck disable=SC2086
    rewake run $scenarios --runs 330 --strategy random --no-shrink --db whole.db >/dev/null 2>&1
    dump whole.db
)"
same "goals: all parts" "$(status merge --goals g.db 'three 1.db' 'three 2.db' 'three 3.db')" 0
same "goals: a part is missing" "$(status merge --goals g2.db 'three 1.db' 'three 2.db')" 5

# ---- Merging again changes nothing. ----
whole=$(sqlite3 c.db .dump)
same "merging again: status" "$(status merge c.db 'three 2.db' 'three 2.db' 'three 1.db')" 0
ok "merging again: it is said" grep -q '0 parts added.*6 were already there' out.txt
same "merging again: nothing changes" "$(sqlite3 c.db .dump)" "$whole"
same "parts that were merged are counted one by one" "$(rewake merge --json h.db c.db)" \
    '{"v":1,"event":"merge","db":"h.db","parts":6,"sweeps":0,"known":0}'
same "the same part of another run is known" "$(status merge c.db again.db)" 0
same "merging into itself: status" "$(status merge c.db c.db)" 0
ok "merging into itself: one line" one_line err.txt
same "merging into itself: nothing changes" "$(sqlite3 c.db .dump)" "$whole"
same "a whole sweep is copied, once" "$(
    rewake merge w.db whole.db >/dev/null && rewake merge w.db whole.db >/dev/null
    dump w.db
)" "$(dump whole.db)"

# ---- What does not fit is refused; what is there stays as it is. ----
# unlike CLAIM PATTERN OUT IN...
unlike() {
    claim=$1
    pattern=$2
    shift 2
    before=$(sqlite3 "$1" .dump)
    refused "$claim" 2 merge "$@"
    ok "$claim: says what" grep -q "$pattern" err.txt
    same "$claim: nothing changes" "$(sqlite3 "$1" .dump)" "$before"
}
rewake merge t1.db 'three 1.db' >/dev/null
unlike "another number of parts" 'number of parts 5, not 3' t1.db five2.db
cp 'three 2.db' build.db
sqlite3 build.db "UPDATE sweeps SET build = 'rewake 9'"
unlike "another build" 'build rewake 9, not' t1.db build.db
part 2/3 seed.db --seed 77
unlike "another seed" 'first seed 77, not 1' t1.db seed.db
part 2/3 options.db -O late_one_in=0
unlike "other options" 'options {.late_one_in.*}, not {}' t1.db options.db
cp 'three 1.db' cut.db
sqlite3 cut.db "UPDATE shards SET runs = 3; UPDATE sweeps SET runs = 3"
unlike "the same part, with other runs" 'part 1 of 3 is there already, with other runs' t1.db cut.db
rewake merge t13.db 'three 1.db' 'three 3.db' >/dev/null
rewake merge t12.db 'three 1.db' 'three 2.db' >/dev/null
unlike "parts that overlap" '1 of these 2 parts are there already' t12.db t13.db
refused "inputs of two sweeps" 2 merge new.db 'three 1.db' seed.db
ok "inputs of two sweeps: nothing is made" test ! -e new.db
ok "... unless they are to be kept apart" rewake merge --apart new.db 'three 1.db' seed.db
same "... as two sweeps of each scenario" "$(sqlite3 new.db 'SELECT count(*) FROM sweeps')" 4

before=$(sqlite3 t1.db .dump)
refused "a missing input" 70 merge t1.db 'three 2.db' nothing.db
head -c 9000 'three 2.db' >short.db
refused "a damaged input" 70 merge t1.db 'three 2.db' short.db
cp 'three 2.db' newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
refused "an input of a newer rewake" 70 merge t1.db newer.db
same "the output is as it was" "$(sqlite3 t1.db .dump)" "$before"
refused "no input" 2 merge t1.db
refused "an output that is no database" 70 merge dump.sql 'three 1.db'

# ---- A sweep without a run, stopped by a remembered failure, counts as it does in its part. ----
# says DB: of each sweep its runs, failures that failed again, end.
says() {
    sqlite3 "$1" "SELECT s.scenario, s.runs, s.complete, n.ended, (SELECT count(*) FROM
        failed_again AS a WHERE a.sweep = s.sweep) FROM sweeps AS s JOIN sweep_notes AS n
        USING (sweep) ORDER BY s.sweep"
}
rewake run canary/deadlock --runs 20 --db found.db >/dev/null
cp found.db stopped.db
rewake run canary/deadlock --runs 20 --fail-fast --db stopped.db >/dev/null
same "it has no run, and a failure" "$(says stopped.db | tail -n 1)" \
    'canary/deadlock|0|0|first failure|1'
rewake merge m1.db stopped.db >/dev/null
same "merged it counts" "$(says m1.db)" "$(says stopped.db)"
same "... and is a failure, by the same name" "$(rewake export markdown --db m1.db | grep run:)" \
    "$(rewake export markdown --db stopped.db | grep run:)"
rewake merge m2.db found.db >/dev/null
rewake merge m2.db stopped.db >/dev/null
same "... also where its failure was there already" "$(says m2.db)" "$(says stopped.db)"
rewake merge m2.db stopped.db found.db >/dev/null
same "... and once" "$(says m2.db)" "$(says stopped.db)"
for i in 1 2 3; do
    cp found.db "part $i.db"
    rewake run canary/deadlock --runs 96 --fail-fast --shard $i/3 --db "part $i.db" >/dev/null
done
rewake merge m3.db 'part 1.db' 'part 2.db' 'part 3.db' >/dev/null
same "parts without a run are parts" "$(says m3.db)" "$(says stopped.db)"
same "... all three" "$(sqlite3 m3.db 'SELECT parts FROM shards_in')" '3 of 3'
cp found.db killed.db
sqlite3 killed.db "INSERT INTO sweeps SELECT 9, scenario, library, strategy, options, build, git,
    seed_first, started_ms + 1, 0, 0, 0, 0, 0, 0 FROM sweeps; INSERT INTO sweep_notes SELECT 9,
    command_ms, about, file, stated, held, 'running', 0, 0 FROM sweep_notes"
rewake merge m4.db killed.db >/dev/null
same "one that was killed before its first run says nothing" "$(says m4.db)" "$(says found.db)"

# ---- Which part. ----
for text in 0/3 4/3 3/0 1 /3 1/ a/b -1/3 1/3x 5000/5000; do
    refused "--shard $text" 2 run zoo/tokio-4497/broken --shard "$text"
done
refused "more parts than batches" 2 run zoo/tokio-4497/broken --runs 4 --shard 1/5
refused "an enumeration in parts" 2 run zoo/tokio-4497/broken --strategy delay --shard 1/2
refused "saturation of a part" 2 run zoo/tokio-4497/broken --until-saturated --shard 1/2
refused "goals of a part" 2 run zoo/tokio-4497/broken --goals --shard 1/2
same "time in parts: status" "$(status run zoo/tokio-4497/fixed --time 50ms --shard 2/3 --db \
    time.db)" 0
same "time in parts: its own seeds" "$(sqlite3 time.db 'SELECT first FROM seeds LIMIT 1')" 1025
same "one run at least, of each scenario" "$(status run 'zoo/[abe]*/fixed' --time 1ms --db ms.db)$(
    sqlite3 ms.db 'SELECT count(*) FROM sweeps WHERE runs = 0')" 00

# ---- The seed of a commit. ----
if command -v git >/dev/null; then
    refused "a seed from git outside of any tree" 2 run zoo/tokio-4497/fixed --seed-from-git
    git init -q tree && cd tree
    refused "... and before the first commit" 2 run zoo/tokio-4497/fixed --seed-from-git
    git -c user.name=n -c user.email=e commit -q --allow-empty -m one
    commit=$(git rev-parse HEAD)
    same "a seed from git: status" "$(status run zoo/tokio-4497/fixed --seed-from-git --runs 9)" 0
    same "a seed from git is stored, with the commit" \
        "$(sqlite3 .rewake/trace.db 'SELECT seed_first, git FROM sweeps')" \
        "$((0x$(printf %.12s "$commit")))|$commit"
    ok "... is printed" grep -q "from seed .* (commit $(printf %.12s "$commit"))" out.txt
    refused "two seeds" 2 run zoo/tokio-4497/fixed --seed-from-git --seed 4
    cd ..
fi
done_testing
