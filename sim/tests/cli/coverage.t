#!/bin/sh
# coverage.t -- what a sweep has covered: the same for any number of workers, in words, distilled.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
scenario=seeds/s3/echo-server

# ---- The same whoever made the runs. ----
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
same "every run that came somewhere new has a row" \
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

# ---- The fewest that cover the same. ----
same "--distill: status" "$(status coverage --distill --db c1.db)" 0
ok "all is covered" grep -q "runs cover all $(ask 'SELECT count(*) FROM coverage') elements" out.txt
few=$(grep -c ' more .* rw1:' out.txt)
ok "by fewer runs" test "$few" -lt "$(ask 'SELECT count(*) FROM runs WHERE fresh > 0')"
rm -f d.db
for seed in $(sed -n 's/.* rw1:[^:]*:\([0-9]*\):.*/\1/p' out.txt); do
    rewake run --strategy random $scenario --seed "$seed" --runs 1 --fresh --db d.db >/dev/null
done
same "by those runs alone" \
    "$(sqlite3 d.db 'SELECT DISTINCT kind, site, other FROM coverage ORDER BY 1, 2, 3')" \
    "$(ask 'SELECT kind, site, other FROM coverage ORDER BY 1, 2, 3')"

# ---- Goals, reached or not. ----
timeout=seeds/s1/race-timeout
same "goals that few runs do not reach: status" \
    "$(status run $timeout --runs 1 --strategy dullest --goals --fresh --db g.db)" 1
ok "they are named, with their lines" \
    grep -q 'goal never reached: reader->done && .* at race_timeout.c:[0-9]* check' out.txt
ok "and known to the database" test "$(sqlite3 g.db 'SELECT count(*) FROM goals_missed')" -ge 1
same "without --goals they are no failure" \
    "$(status run $timeout --runs 1 --strategy dullest --fresh --db g.db)" 0
rewake coverage --db g.db >g.txt
ok "coverage tells them" grep -q '^   never  sometimes ' g.txt
ok "and that SIM_ALWAYS was checked" grep -q '^       1  always ' g.txt
same "goals that all are reached: status" \
    "$(status run $timeout --runs 3000 --goals --fresh --db g.db)" 0

# ---- Until there is little new. ----
for jobs in 1 2; do
    rewake run --strategy random zoo/a06/fixed --until-saturated --jobs $jobs --record none --json |
        grep -o '"name".*"seconds"\|"digest.*saturated":[a-z]*' >s$jobs.txt
done
ok "it says so" grep -q '"saturated":true' s1.txt
ok "and stops at the same run for any number of workers" cmp -s s1.txt s2.txt
same "at most so many: status" \
    "$(status run zoo/a06/fixed --until-saturated --runs 500 --db u.db)" 0
ok "and why not" grep -q 'not saturated: something new was covered' out.txt

# ---- What is not there. ----
refused "nothing recorded of it" 4 coverage 'no/such' --db c1.db
refused "no database" 70 coverage --db nowhere.db
rewake run $scenario --runs 5 --record none >/dev/null
ok "--record none writes no file" test ! -e .rewake/trace.db
done_testing
