#!/bin/sh
# query.t -- `rewake query`: each question that is kept, on a database with failures and on an empty
# one; and what is refused.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
command -v jq >/dev/null || {
    echo '1..0 # SKIP jq is missing: scripts/setup --ci installs it'
    exit 0
}
names=$(cd "$root/reports/queries" && ls ./*.sql | sed 's|^\./||; s|\.sql$||')

rewake run canary/diverged --runs 4 --check-determinism 100 --db f.db >/dev/null
rewake run canary/lost-wakeup canary/late-wakeup canary/deadlock 'articles/s3/*' \
    zoo/tokio-4497/broken \
    --runs 60 --db f.db >/dev/null
# One run in fifty of foreign/executor/broken fails, so it takes a strategy that does not learn:
# what is learned changes with each change of the runtime.
# fails_in NAME ARGS...: a run of it, within 100.
fails_in() {
    name=$1
    shift
    same "$name fails within 100 runs" \
        "$(status run "$name" --runs 100 --fail-fast --db w.db "$@")" 1
}
fails_in foreign/executor/broken --strategy random
for name in zoo/monoio-147/broken zoo/wstd-71/broken canary/contract canary/crash; do
    fails_in $name
done
cat "$root/sim/store/tables/schema.sql" "$root/sim/store/tables/coverage.sql" | sqlite3 e.db

# ---- The list. ----
same "query alone: status" "$(status query)" 0
ok "query alone: nothing is wider than 100 columns" test -z "$(grep '^.\{101\}' out.txt)"
for name in $names; do
    ok "$name is listed" grep -q "^$name[ \[]" out.txt
    ok "$name begins with a question" sh -c "head -n 1 '$root/reports/queries/$name.sql' |
        grep -q '^-- [A-Z][^?]*?'"
done
same "the list has no others" "$(grep -c '^[a-z-]* .*[A-Z]' out.txt)" \
    "$(($(echo "$names" | wc -l) + 1))"

# ---- Each of them. What may have no answer where something has failed: ----
none=' goals-missed line code-branches code-functions '
for name in $names; do
    for db in f e; do
        same "$name, $db.db: status" "$(status query "$name" --db $db.db)" 0
        ok "$name, $db.db: nothing on stderr" test ! -s err.txt
        ok "$name, $db.db: nothing is wider than 100 columns" test -z "$(grep '^.\{101\}' out.txt)"
        case "$db $none" in
        "e "*) ok "$name, nothing there: said" grep -qx '(none)' out.txt ;;
        "f "*" $name "*) ;;
        *) ok "$name, failures: an answer" not_in out.txt '^(none)$' ;;
        esac
    done
    rewake query "$name" --json --db f.db >json.txt
    rewake query "$name" --db f.db >table.txt
    same "$name: as many objects as rows" "$(wc -l <json.txt)" \
        "$(($(wc -l <table.txt) - 2 - $(grep -cx '(none)' table.txt)))"
done
ok "--json is JSON" sh -c "for name in $(echo $names); do
    '$REWAKE' query \$name --json --db f.db; done | jq -e . >jq.txt"

# ---- What they say. ----
run=$(sqlite3 f.db "SELECT min(run) FROM lost_wakeups WHERE scenario = 'canary/lost-wakeup'
    AND token IS NOT NULL")
ask() {
    rewake query "$@" --db f.db
}
ask lost-wakes >lost.txt
ok "lost-wakes: the blocked task, its line, and its waker" \
    grep -q "^$run  *canary/lost-wakeup  *consumer .* lost_wakeup.c:[0-9]* consumer_poll  *open$" \
    lost.txt
same "lost-wakes: of one scenario" "$(ask lost-wakes 'canary/la*' | tail -n +3 | cut -d / -f 2 |
    cut -d ' ' -f 1)" late-wakeup
same "waiting: the blocked task waits for the box" "$(ask waiting "run:$run" --json |
    jq -r '.task + ": " + .reason')" 'consumer: something in the box'
same "a run by its number alone" "$(ask waiting "$run")" "$(ask waiting "run:$run")"
same "trace: from a step to a step" "$(ask trace "$run" 2 3 --json | jq .step | sort -u |
    tr '\n' ' ')" '2 3 '
same "trace: arguments in words" "$(ask trace "$run" --json |
    jq -r 'select(.kind == "store" or .kind == "polled") | .kind + " " + .detail' | sort -u)" \
    "polled pending
polled ready
store of consumer"
same "wakers: all wakes, and the polls that followed" "$(ask wakers "$run" --json |
    jq -s -c '[(map(.times) | add), (map(.polled) | add)]')" "$(sqlite3 f.db "
    SELECT json_array(count(*), sum(t.n < (SELECT max(p.n) FROM trace AS p
        WHERE p.run = $run AND p.kind = 'poll' AND p.object = t.object)))
    FROM trace AS t WHERE run = $run AND kind = 'wake'")"

# Runs in which it matters that the answer is complete: a wake that no poll followed, a loop in the
# host's poll, a task that was woken without a waker, one that left none, one that was being polled.
fails() {
    sqlite3 w.db "SELECT max(run) FROM failures WHERE scenario = '$1'"
}
of() {
    scenario=$1
    shift
    rewake query "$1" "$(fails "$scenario")" --json --db w.db
}
same "waiting: a wake was dropped" "$(of foreign/executor/broken waiting |
    jq -r 'select(.woken) | [.task, .reason, (.waker == "fired at \(.woken)")] | @csv')" \
    '"job","the result",true'
same "waiting: a loop" "$(of foreign/executor/broken waiting | jq -r 'select(.waker == null) |
    .task + ": " + .reason')" 'executor: the host, in its poll'
same "waiting: no waker is left" "$(of canary/contract waiting | jq -r '.task + ": " + .waker')" \
    'taker: none'
same "waiting: not who was being polled" "$(of canary/crash waiting)" ''
same "waiting: the waker of a child is whose poll it is" "$(of zoo/wstd-71/broken waiting |
    jq -r .task | sort -u)" block_on
same "wakers: a wake that no poll followed" "$(of foreign/executor/broken wakers |
    jq -r 'select(.polled < .times) | [.waker, .woken, .times, .polled] | @csv')" \
    '"worker","job",1,0'
same "lost-wakes: woken, and never polled" "$(rewake query lost-wakes zoo/monoio-147/broken --json \
    --db w.db | jq -r '.waiter + " " + .waker + " " + .by' | sed 's/:[0-9]*$//')" \
    'main woken monoio-147.c'
# As `show` has it: who, in which step, what became of it, and when.
for name in foreign/executor/broken zoo/monoio-147/broken zoo/wstd-71/broken; do
    rewake show "run:$(fails $name)" --db w.db | sed -n '/^who .*and then/,/^$/p' |
        sed -n -E '1d; / host: /d; s/,.*//
            s/^([^ ]+) .* ([0-9]+) ([a-z]+)( at [0-9]+)?( by .*| \(.*)?$/\1 \2 \3\4/p' |
        sort >shown.txt
    of $name ledger | jq -r '.task + " \(.since) " + .how +
        if .until then " at \(.until)" else "" end' | sort >queried.txt
    ok "$name: ledger: as show has it" cmp shown.txt queried.txt
done
same "latency: wakes and the most, as the view says" \
    "$(ask latency canary/late-wakeup --json | jq -c '[.wakes, .most_ns]')" \
    "$(sqlite3 f.db "SELECT json_array(count(*), max(latency_ns)) FROM poll_latency
        JOIN runs USING (run) JOIN sweeps USING (sweep) WHERE scenario = 'canary/late-wakeup'")"
same "causes: adds up to what failed" "$(ask causes --json | jq -s 'map(.runs) | add')" \
    "$(sqlite3 f.db 'SELECT count(*) FROM runs WHERE verdict <> 0')"
same "flaky: only what fails now and then" "$(ask flaky --json | jq -s 'all(.failed < .runs)')" true
same "strategies: all runs" "$(ask strategies --json | jq -s 'map(.runs) | add')" \
    "$(sqlite3 f.db 'SELECT sum(runs) FROM sweep_strategies')"
same "replicas: the replica run of the canary" \
    "$(ask replicas --json | jq -r .scenario | sort -u)" canary/diverged
ask line lost_wakeup.c --json | jq -r .what | sort -u | tr '\n' ' ' >line.txt
ok "line: what is covered there, and what failed" grep -q 'fired .*lost-wakeup .*stored ' line.txt
ask rerun canary/deadlock | tail -n 1 >again.txt
# shellcheck disable=SC2046 # A command.
same "rerun: its command fails again" "$(status $(sed 's/^rewake //' again.txt))" 1
same "news: nothing begins just now" "$(ask news 0 | tail -n 1)" '(none)'
same "news: of the last hour" "$(ask news 1 --json | wc -l)" \
    "$(sqlite3 f.db 'SELECT count(*) FROM added')"
sqlite3 f.db "UPDATE details SET actor_name = 'ein sehr langer Name für jemanden, der schläft, '
    || 'und noch länger, bis er in keine Zeile mehr paßt, wie lang sie auch sein mag'"
ask lost-wakes | tail -n 1 >wide.txt
# The caller may count bytes (LC_ALL=C).
ok "a table that is too wide is cut, by characters" \
    env LC_ALL=C.UTF-8 grep -q '^.\{97\}\.\.\.$' wide.txt

# ---- Statements, and what is refused. ----
same "SELECT" "$(rewake query 'SELECT count(*) AS n FROM verdicts' --db e.db | tail -n 1)" 0
refused "no such query" 2 query lost-wake --db f.db
refused "too many arguments of a query" 2 query flaky x --db f.db
refused "too many arguments of a query with one" 2 query wakers 1 2 --db f.db
refused "SQL in many words" 2 query SELECT 1 --db f.db
refused "two statements" 2 query 'SELECT 1; SELECT 2' --db f.db
refused "a statement that writes" 2 query 'DELETE FROM runs' --db f.db
refused "no database" 70 query failures --db nowhere.db
done_testing
