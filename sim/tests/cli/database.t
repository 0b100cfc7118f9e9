#!/bin/sh
# database.t -- databases that a sweep loses, or that are damaged, and a count without a row.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
build_library bad
build_library hostile

# is_true DB SQL: it answers 1.
is_true() {
    [ "$(sqlite3 "$1" "$2" 2>/dev/null)" = 1 ]
}

# ---- A failure's row and its count are one transaction. ----
# The hang is counted, and is then repeated alone: for a second nothing else is written.
counted='SELECT coalesce(sum(runs), 0) FROM sweep_verdicts WHERE verdict <> 0'
rows='SELECT count(*) FROM runs WHERE verdict <> 0'
"$REWAKE" run ./bad.so bad/some-hang --strategy random --seeds 4-60 --hang 1s --jobs 1 \
    --fail-fast --db k.db >k.txt 2>&1 &
pid=$!
ok "a failure is counted" soon is_true k.db "SELECT ($counted) > 0"
same "it has its row at once" "$(sqlite3 k.db "SELECT ($counted) = ($rows)")" 1
kill -KILL $pid
wait $pid
ok "after kill -9 the count is there" soon is_true k.db "SELECT ($counted) > 0"
same "and its row" "$(sqlite3 k.db "SELECT ($counted) = ($rows)")" 1
same "the database is whole" "$(sqlite3 k.db 'PRAGMA integrity_check')" ok

# ---- A database that is deleted or replaced meanwhile. ----
rewake run ./bad.so bad/crash --runs 5 --db other.db >/dev/null 2>&1

# lost CLAIM COMMAND: while a sweep writes to l.db; status 70, and one line.
lost() {
    claim=$1
    rm -f l.db*
    "$REWAKE" run ./hostile.so hostile/slow --time 30s --jobs 1 --db l.db >out.txt 2>err.txt &
    pid=$!
    ok "$claim: the sweep writes" soon is_true l.db 'SELECT max(runs) > 0 FROM sweeps'
    sh -c "$2"
    wait $pid
    same "$claim: status" "$?" 70
    ok "$claim: one line" one_line err.txt
    ok "$claim: it is said" grep -q 'deleted, moved or replaced' err.txt
}
lost "deleted" 'rm l.db'
lost "moved" 'mv l.db moved.db'
same "moved: what was committed is in there" "$(sqlite3 moved.db 'PRAGMA integrity_check')" ok
lost "replaced" 'cp other.db new.db; mv new.db l.db'
same "replaced: the other is whole" "$(sqlite3 l.db 'PRAGMA integrity_check')" ok
same "replaced: and as it was" "$(sqlite3 l.db .dump | cksum)" "$(sqlite3 other.db .dump | cksum)"
lost "its -wal is deleted" 'rm l.db-wal'

# ---- A damaged schema is refused before the first write. ----
# damaged CLAIM SQL
damaged() {
    cp other.db d.db
    sqlite3 d.db "$2"
    before=$(sqlite3 d.db .dump | cksum)
    refused "$1" 70 run ./bad.so bad/crash --runs 5 --db d.db
    ok "$1: it is said" grep -q 'the database is damaged' err.txt
    same "$1: unchanged" "$(sqlite3 d.db .dump | cksum)" "$before"
    refused "$1: query" 70 query failures --db d.db
}
damaged "a table is missing" 'DROP TABLE seeds'
damaged "a view is missing" 'DROP VIEW failures'
damaged "a column has another type" 'DROP TABLE seeds; CREATE TABLE seeds (sweep INTEGER NOT NULL,
    first TEXT NOT NULL, last INTEGER NOT NULL, stride INTEGER NOT NULL, PRIMARY KEY (sweep, first))
    STRICT, WITHOUT ROWID'
damaged "a column is missing" 'DROP TABLE seeds; CREATE TABLE seeds (sweep INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (sweep, first))
    STRICT, WITHOUT ROWID'

# ---- A database that is deleted alone: the -wal of a killed sweep is no reason to refuse. ----
"$REWAKE" run canary/lost-wakeup --strategy random --time 60s --jobs 1 --fresh --db w.db \
    >w.txt 2>&1 &
pid=$!
ok "a sweep has written" soon is_true w.db 'SELECT sum(runs) > 0 FROM sweeps'
kill -KILL $pid
wait $pid
ok "killed, it leaves a -wal" test -s w.db-wal
rm w.db
same "the database is created again: status" \
    "$(status run canary/lost-wakeup --runs 40 --jobs 1 --db w.db)" 1
ok "... and nothing is wrong" not_in err.txt '^rewake' # A slow machine shows progress.

# ---- No descriptors for a worker: that is said, and not waited for. ----
# few_descriptors N: 0 when no sweep with that many stands still.
few_descriptors() {
    timeout -s KILL 5 prlimit --nofile="$1" "$REWAKE" run canary/lost-wakeup --runs 20 --jobs 4 \
        --fresh --db n.db >n.txt 2>n.err
    [ $? -ne 137 ]
}
for descriptors in 8 10 12; do
    ok "$descriptors descriptors: the sweep ends" few_descriptors $descriptors
done

# ---- The same status for the same thing, of whichever command. ----
rewake run canary/lost-wakeup --runs 20 --fail-fast --db e.db >/dev/null
failed=run:$(sqlite3 e.db 'SELECT max(run) FROM runs')
echo nothing >text.db
for command in show explain replay shrink promote "diff $failed" "export graphviz"; do
    # shellcheck disable=SC2086 # Several words.
    refused "$command: a run that is not there" 2 $command run:99999 --db e.db
done
for command in "show $failed" "explain $failed" "replay $failed" "shrink $failed" \
    "promote $failed" "diff $failed $failed" "export graphviz $failed" "export junit" coverage \
    report "query failures" "merge all.db"; do
    for db in none text; do
        # merge has its databases as arguments.
        case $command in merge*) named=$db.db ;; *) named="--db $db.db" ;; esac
        # shellcheck disable=SC2086
        refused "$command: $db.db, no database" 70 $command $named
    done
done
for command in "show $failed" "diff $failed $failed" "export graphviz $failed" "export junit" \
    coverage "report -o pages" "query failures"; do
    # shellcheck disable=SC2086
    same "$command: writes what is there, a failure, and passes" "$(status $command --db e.db)" 0
done
same "merge: a failure, and passes" "$(status merge all.db e.db)" 0
for command in run explain replay shrink; do
    case $command in run) what='canary/lost-wakeup --runs 20' ;; *) what=$failed ;; esac
    # shellcheck disable=SC2086
    same "$command: judges, and fails" "$(status $command $what --db e.db)" 1
done
same "explore: judges, and fails" "$(status explore canary/lost-wakeup --bound 1 --db e.db)" 1

# ---- A closed stream: what is printed goes into no file of ours. ----
"$REWAKE" run canary/lost-wakeup --runs 20 --jobs 1 --json --db c.db >&- 2>err.txt
same "stdout is closed: status" "$?" 70
ok "stdout is closed: it is said" grep -q 'the output could not be written' err.txt
done_testing
