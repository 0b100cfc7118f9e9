#!/bin/sh
# coverage.t -- what a sweep has covered: the same for any number of workers, in words, distilled.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
scenario=articles/s3/echo-server

# ---- The same for any number of workers. ----
dump='SELECT * FROM coverage ORDER BY kind, site, other; SELECT * FROM sweep_species;
    SELECT * FROM sweep_strategies; SELECT number, seed, fresh, digest FROM runs ORDER BY number;'
for jobs in 1 2 5; do
    rewake run --strategy random $scenario --runs 400 --jobs $jobs --fresh --db c$jobs.db >/dev/null
    sqlite3 c$jobs.db "$dump" >c$jobs.txt
done
ok "something is covered" test -s c1.txt
ok "2 workers cover the same" cmp -s c1.txt c2.txt
ok "5 workers cover the same" cmp -s c1.txt c5.txt
ask() {
    sqlite3 c1.db "$1"
}
same "growth ends where all is covered" "$(ask 'SELECT max(covered) FROM coverage_growth')" \
    "$(ask 'SELECT count(*) FROM coverage')"
same "every run that covered something new has a row" \
    "$(ask 'SELECT count(*) FROM runs WHERE fresh > 0')" \
    "$(ask 'SELECT count(DISTINCT first_run) FROM coverage')"
same "the bound is three over the runs" "$(ask 'SELECT at_most FROM failure_bounds')" 0.0075
same "all runs are counted as species" "$(ask 'SELECT runs FROM saturation')" 400

# ---- In words. ----
same "coverage: status" "$(status coverage --db c1.db)" 0
ok "a wake and where it led to" grep -q 'runtime.c:[0-9]* fetch  *echo_server.c:[0-9]* accept_one' \
    out.txt
ok "how it grew" grep -q '^Growth: [0-9]* in 1, ' out.txt
ok "the estimators" grep -q '(Good-Turing).*(Chao1)' out.txt
ok "the bound" grep -q 'no failure in 400 runs: one fails with at most 0.750 % (95 %: 3/n)' out.txt
ok "nothing is wider than 100 columns" test -z "$(grep '^.\{101\}' out.txt)"
rewake coverage --json --db c1.db >j.json
ok "--json is JSON" every_line_is_json j.json
ok "--json has all elements" grep -q "\"elements\":$(ask 'SELECT count(*) FROM coverage')," j.json

# ---- Which sweep. ----
rewake run --strategy random $scenario --runs 7 --fresh --db w.db >/dev/null
rewake run --strategy random $scenario --runs 9 --fresh --db w.db >/dev/null
rewake run --strategy random articles/s1/two-requests --runs 3 --fresh --db w.db >/dev/null
told_runs() {
    rewake coverage --json "$@" --db w.db |
        sed 's/.*"sweep":\([0-9]*\),.*"runs":\([0-9]*\),"failed.*/\1:\2/' |
        tr '\n' ' '
}
same "the newest of each scenario" "$(told_runs)" '3:3 2:9 '
same "--all" "$(told_runs --all)" '3:3 1:7 2:9 '
same "--all of one scenario" "$(told_runs --all 'articles/s3/*')" '1:7 2:9 '
same "--sweep" "$(told_runs --sweep 1)" '1:7 '
same "--sweep: status" "$(status coverage --sweep 1 --db w.db)" 0
ok "--sweep: in words" grep -q "^$scenario (sweep 1)\$" out.txt
same "--sweep --distill: status" "$(status coverage --sweep 1 --distill --db w.db)" 0
refused "a sweep that is not there" 4 coverage --sweep 99 --db w.db
refused "a sweep of another scenario" 4 coverage --sweep 3 'articles/s3/*' --db w.db
refused "no sweep" 2 coverage --sweep x --db w.db
refused "one and all" 2 coverage --sweep 1 --all --db w.db

# ---- A library alone. ----
build_library bad
refused "a library of which nothing is recorded" 4 coverage ./bad.so --db w.db
rewake run --strategy random ./bad.so bad/mallocs --runs 5 --fresh --db w.db >/dev/null
same "a library: status" "$(status coverage ./bad.so --db w.db)" 0
same "a library: its scenarios only" "$(grep ' (sweep [0-9]*)$' out.txt)" 'bad/mallocs (sweep 4)'
same "a library that is not needed" "$(told_runs bad/mallocs)" '4:5 '

# ---- The fewest that cover the same. ----
same "--distill: status" "$(status coverage --distill --db c1.db)" 0
ok "all is covered" \
    grep -q "runs cover all $(ask 'SELECT count(*) FROM coverage') coverage points" out.txt
few=$(grep -c ' more .* rw1:' out.txt)
ok "by fewer runs" test "$few" -lt "$(ask 'SELECT count(*) FROM runs WHERE fresh > 0')"
rm -f d.db
for seed in $(sed -n 's/.* rw1:[^:]*:\([0-9]*\):.*/\1/p' out.txt); do
    rewake run --strategy random $scenario --seed "$seed" --runs 1 --fresh --db d.db >/dev/null
done
same "by those runs alone" \
    "$(sqlite3 d.db 'SELECT DISTINCT kind, site, other FROM coverage ORDER BY 1, 2, 3')" \
    "$(ask 'SELECT kind, site, other FROM coverage ORDER BY 1, 2, 3')"

# ---- Questions: which seed, what was new, which runs. ----
same "every element has a seed that comes there" \
    "$(ask 'SELECT count(*) FROM first_to_cover WHERE run IS NOT NULL AND seed IS NOT NULL')" \
    "$(ask 'SELECT count(*) FROM coverage')"
seldom=$(ask 'SELECT seed FROM first_to_cover ORDER BY number DESC LIMIT 1')
element=$(ask 'SELECT kind, site, other FROM coverage ORDER BY first_run DESC LIMIT 1')
rewake run --strategy random $scenario --seed "$seldom" --runs 1 --fresh --db e.db >/dev/null
ok "and that seed does, alone" sh -c \
    "sqlite3 e.db 'SELECT kind, site, other FROM coverage' | grep -qxF '$element'"
for seeds in 1-20 1-20 1-400; do
    rewake run --strategy random $scenario --seeds $seeds --fresh --db n.db >/dev/null
done
added() {
    sqlite3 n.db "SELECT count(*) FROM added
        WHERE sweep = $1 AND started > datetime('now', '-1 hour')"
}
in_sweep() {
    sqlite3 n.db "SELECT count(*) FROM coverage WHERE sweep = $1"
}
same "the first sweep adds all that it covers" "$(added 1)" "$(in_sweep 1)"
same "the same again adds nothing" "$(added 2)" 0
same "more runs add the rest" "$(added 3)" $(($(in_sweep 3) - $(in_sweep 1)))
ok "and that is something" test "$(added 3)" -gt 0
for seed in $(sqlite3 n.db 'SELECT seed FROM covering_runs'); do
    rewake run --strategy random $scenario --seed "$seed" --runs 1 --fresh --db m.db >/dev/null
done
same "the covering runs cover all of it" \
    "$(sqlite3 m.db 'SELECT DISTINCT kind, site, other FROM coverage ORDER BY 1, 2, 3')" \
    "$(sqlite3 n.db 'SELECT DISTINCT kind, site, other FROM coverage ORDER BY 1, 2, 3')"

# ---- Goals, reached or not. ----
timeout=articles/s1/race-timeout
same "goals that few runs do not reach: status" \
    "$(status run $timeout --runs 1 --strategy baseline --goals --fresh --db g.db)" 1
ok "they are named, with their lines" \
    grep -q 'goal never reached: reader->done && .* at race_timeout.c:[0-9]* check' out.txt
ok "and known to the database" test "$(sqlite3 g.db 'SELECT count(*) FROM goals_missed')" -ge 1
same "without --goals they are no failure" \
    "$(status run $timeout --runs 1 --strategy baseline --fresh --db g.db)" 0
rewake coverage --db g.db >g.txt
ok "coverage prints them" grep -q '^   never  sometimes ' g.txt
ok "and that SIM_ALWAYS was checked" grep -q '^       1  always ' g.txt
same "goals that all are reached: status" \
    "$(status run $timeout --runs 3000 --goals --fresh --db g.db)" 0

# ---- What runs do for nothing. ----
dead=articles/s3/deadline
rewake run $dead --runs 300 --strategy random --fresh --db w.db >/dev/null
same "a run wakes tasks that have finished: that is no failure, and known to the database" \
    "$(sqlite3 w.db "SELECT kind, min(runs) > 0, min(times - runs) >= 0, max(most) > 1
        FROM wasted WHERE kind = 'dead-wake' GROUP BY kind")" "dead-wake|1|1|1"
same "--max-waste 0: status" \
    "$(status run $dead --runs 300 --strategy random --max-waste 0 --fresh --record none)" 1
ok "... says what, where and in which run" grep -q \
    'waste: [0-9]* wakes of finished tasks in one run at .*:[0-9]* in [a-z_]*() (limit: 0)' \
    out.txt
same "--max-waste: a limit that is kept: status" \
    "$(status run $dead --runs 300 --strategy random --max-waste 1000 --fresh --record none)" 0
same "--max-waste: not a number: status" "$(status run $dead --max-waste x)" 2

# ---- Two scenarios in one file: each has the goals that its runs can reach. ----
build_library forms
same "goals of another form do not count: status" \
    "$(status run ./forms.so forms/fixed --runs 20 --goals --fresh --db f.db)" 0
ok "they are named: they may be no scenario's" \
    grep -q 'goal of another scenario of the file?: reachable at forms.c:[0-9]* broken_poll' out.txt
same "and only its own are stored" "$(sqlite3 f.db 'SELECT text, runs FROM goals_reached')" \
    'half->polls == 2|20'
same "its goal that is not reached: status" \
    "$(status run ./forms.so forms/broken --runs 20 --goals --fresh --db f.db)" 1
ok "it is named" \
    grep -q 'goal never reached: half->polls == 77 at forms.c:[0-9]* broken_poll' out.txt
same "alone" "$(grep -c 'goal never reached' out.txt)" 1
same "and in the database" "$(sqlite3 f.db 'SELECT scenario, text FROM goals_missed')" \
    'forms/broken|half->polls == 77'

# ---- Until there is little new. ----
for jobs in 1 2; do
    rewake run --strategy random zoo/tokio-4497/fixed --until-saturated --jobs $jobs --record \
        none --json |
        grep -o '"name".*"seconds"\|"digest.*saturated":[a-z]*' >s$jobs.txt
done
ok "it says so" grep -q '"saturated":true' s1.txt
ok "and stops at the same run for any number of workers" cmp -s s1.txt s2.txt
same "at most so many: status" \
    "$(status run zoo/tokio-4497/fixed --until-saturated --runs 500 --db u.db)" 0
ok "and why not" grep -q 'not saturated: run [0-9]* of 500 covered something new' out.txt
same "few, and each of a new kind: status" \
    "$(status run articles/s3/echo-server --until-saturated --runs 500 --db u.db)" 0
ok "and why not" \
    grep -q 'not saturated: [0-9.]* % of the runs by random still show a new schedule' out.txt

# ---- What is not there. ----
refused "nothing recorded of it" 4 coverage 'no/such' --db c1.db
refused "no database" 70 coverage --db nowhere.db
rewake run $scenario --runs 5 --record none >/dev/null
ok "--record none writes no file" test ! -e .rewake/trace.db

# ---- A sweep that covered nothing was looked at all the same. ----
rewake run zoo/libuv-2721/broken --runs 5 --fresh --no-shrink --db nothing.db >out.txt 2>&1
same "its runs cover nothing" "$(sqlite3 nothing.db 'SELECT count(*) FROM coverage')" 0
rewake coverage --db nothing.db >out.txt
ok "it is printed" grep -q '^0 coverage points in 5 runs' out.txt

# ---- No line of any command is wider than the terminal, but for tokens. ----
# wide COLUMNS ARGS: the lines that are.
wide() {
    columns=$1
    shift
    escape=$(printf '\033')
    script -qec "stty cols $columns; $REWAKE $*" /dev/null </dev/null | tr '\r' '\n' |
        sed "s/$escape\[[0-9;?]*[A-Za-z]//g; s/$escape]8;[^$escape]*..//g" |
        grep -v ' rw1:' | LC_ALL=C.UTF-8 grep -E "^.{$((columns + 1))}"
}
broken=zoo/tokio-3652/broken
rewake run $broken --runs 100 --fail-fast --db wide.db >/dev/null
run=run:$(sqlite3 wide.db 'SELECT max(run) FROM runs')
command -v script >/dev/null && for columns in 80 100 200; do
    for arguments in help "help run" "help zoo" "coverage --db wide.db" "show $run --db wide.db" \
        "explain $run --db wide.db" "list zoo/" query "query failures --db wide.db" \
        "run $broken --fail-fast --record none" "zoo zoo/tokio-3652/ --runs 20 --db zoo.db"; do
        same "$arguments: $columns columns" "$(wide $columns "$arguments")" ''
    done
done
done_testing
