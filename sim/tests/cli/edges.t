#!/bin/sh
# edges.t -- edges of code that runs reach, counted in process by the build `edges`; edges_library.t
# has those of a library, in any build.
#
# SPDX-License-Identifier: Apache-2.0
. scripts/tests/tap.sh
[ -n "${CI:-}" ] || {
    echo "1..0 # SKIP half a minute; CI=1 sim/tests/cli/edges.t runs it"
    exit 0
}
plain=$(realpath "${REWAKE:-build/rewake}")
edges=$(pwd)/${EDGES:-build/edges-clang/rewake}
[ -x "$edges" ] || {
    echo "1..0 # SKIP there is no build that counts edges: make BUILD=edges CC=clang"
    exit 0
}
REWAKE=$edges
CC=clang
. sim/tests/cli/common.sh

ask() {
    sqlite3 "$@"
}
# sweep DB PROGRAM ARGS...: a sweep into a new database.
sweep() {
    db=$1
    program=$2
    shift 2
    "$program" run "$@" --db "$db" --fresh --no-shrink >sweep.txt 2>&1
}

# ---- The same runs as in any other build. ----
names='articles/s1/race-timeout zoo/async-io-07b6cca/* articles/s5/*'
# shellcheck disable=SC2086 # Several patterns.
{
    sweep plain.db "$plain" $names --runs 100
    sweep same.db "$REWAKE" $names --runs 100
}
ok "the default schedule is made where edges are counted" grep -q '^default schedule: ' sweep.txt
digests='SELECT scenario, strategy, runs, printf("%016x", digest) FROM sweeps ORDER BY scenario'
same "counting changes no run: digests of the sweeps" \
    "$(ask same.db "$digests")" "$(ask plain.db "$digests")"
covered='SELECT scenario, element, place, other, runs, first_run FROM covered ORDER BY 1, 2, 3, 4'
same "counting changes nothing that is learned: schedule coverage" \
    "$(ask same.db "$covered")" "$(ask plain.db "$covered")"

# ---- A run that crashes, and one that hangs, have their edges. ----
sweep c.db "$REWAKE" canary/crash --seeds 1-20 --strategy random
same "a crashing run's edges are known" "$(ask c.db "
    SELECT count(*) FROM runs AS r WHERE r.verdict <> 0 AND NOT EXISTS (
        SELECT 1 FROM code_runs AS c JOIN code_set_members USING (code_set)
        JOIN code_edges AS e USING (edge) WHERE c.sweep = r.sweep AND c.number = r.number
        AND e.function = 'reader_poll')")" 0
sweep h.db "$REWAKE" canary/hang --seeds 181-182 --strategy random --hang 300ms
same "a hanging run's edges are known" "$(ask h.db "SELECT count(*) > 0 FROM code_first
    WHERE function = 'table_find_free' AND file LIKE '%hang.c'")" 1

# ---- For people, and for programs. ----
same "coverage --code: status" "$(status coverage --code --db same.db)" 0
ok "coverage --code: a row a folder" grep -Eq '^runtime/task/ +[0-9]+ +[0-9]+ +[0-9.]+ %' out.txt
ok "coverage --code: at most 100 columns" awk 'length > 100 { exit 1 }' out.txt
rewake coverage --code --json --db same.db >code.json
ok "coverage --code --json" every_line_is_json code.json
if python3 -c 'import jsonschema' 2>/dev/null; then
    rewake replay run:1 --code --json --db same.db 2>/dev/null | grep '"edge"' >edge.json
    ok "... as the schema has it" python3 "$root/sim/tests/cli/json_lines.py" \
        "$root/sim/cli/print/json.schema.json" --some code.json edge.json
fi
same "... adds up to what is there" \
    "$(sed 's/.*"edges":\([0-9]*\).*/\1/' code.json | awk '{ n += $1 } END { print n }')" \
    "$(ask same.db 'SELECT count(*) FROM code_edges')"

# ---- Few runs that reach the same. ----
same "coverage --code --distill: status" "$(status coverage --code --distill --db same.db)" 0
all=$(ask same.db 'SELECT count(*) FROM runs')
awk '$2 == "more" { print $6 }' out.txt >tokens.txt
ok "fewer runs are enough" test "$(wc -l <tokens.txt)" -lt "$((all / 2))"
# reaches TOKENS DB: they reach every edge that all runs of the database reached, and no other.
reaches() {
    rewake replay --each "@$1" --code --json --db none.db >replay.json
    sed -n 's/.*"event":"edge","edge":"\([0-9]*\)".*/\1/p' replay.json | sort -u >replayed.txt
    ask "$2" 'SELECT DISTINCT edge FROM code_coverage' | sort -u >reached.txt
    [ -s reached.txt ] && cmp replayed.txt reached.txt
}
ok "they reach every edge that all runs reached, and no other" reaches tokens.txt same.db
same "... as one by one" "$(while read -r token; do
        rewake replay "$token" --code --db none.db | grep -E '^[^ ]+:[0-9]+ [^ ]+$'
    done <tokens.txt | sort -u | cksum)" \
    "$(rewake replay --each @tokens.txt --code --db none.db | grep -E '^[^ ]+:[0-9]+ [^ ]+$' |
        sort -u | cksum)"
ok "... and says how many" grep -q "\"edges\":$(wc -l <reached.txt)" replay.json
# A reported failure may be the first to cover something, as well as a run that is not reported.
for jobs in 1 3; do
    sweep "reported$jobs.db" "$REWAKE" canary/contract zoo/async-std-272/broken --seeds 1-200 \
        --strategy random --jobs "$jobs"
    rewake coverage --code --distill --db "reported$jobs.db" | awk '$2 == "more" { print $6 }' \
        >"reported$jobs"
done
same "any number of workers comes to the same runs" "$(cat reported3)" "$(cat reported1)"
ok "reported failures are candidates" reaches reported1 reported1.db
done_testing
