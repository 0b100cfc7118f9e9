#!/bin/sh
# edges.t -- edges of code that runs reach, counted in process by the build `edges`.
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
library_flags='-fsanitize-coverage=inline-bool-flag,pc-table'
ok "a library outside of the tree builds with the flag" build_library edges
lib=./edges.so
line=$(grep -n 'the rare line' "$root/sim/tests/cli/lib/edges.c" | cut -d: -f1)
late=$(grep -n 'after a fault' "$root/sim/tests/cli/lib/edges.c" | cut -d: -f1)

ask() {
    sqlite3 "$@"
}
# sweep DB PROGRAM ARGS...: a sweep into a database of its own.
sweep() {
    db=$1
    program=$2
    shift 2
    "$program" run "$@" --db "$db" --fresh --no-shrink >sweep.txt 2>&1
}

# ---- The same runs as in any other build. ----
names='seeds/s1/race-timeout zoo/a05/* seeds/s5/*'
# shellcheck disable=SC2086 # Several patterns.
{
    sweep same.db "$REWAKE" $names --runs 100
    sweep plain.db "$plain" $names --runs 100
}
digests='SELECT scenario, strategy, runs, printf("%016x", digest) FROM sweeps ORDER BY scenario'
same "counting changes no run: digests of the sweeps" \
    "$(ask same.db "$digests")" "$(ask plain.db "$digests")"
covered='SELECT scenario, element, place, other, runs, first_run FROM covered ORDER BY 1, 2, 3, 4'
same "counting changes nothing that is learned: schedule coverage" \
    "$(ask same.db "$covered")" "$(ask plain.db "$covered")"

# ---- What was reached, whoever ran it. ----
sweep one.db "$REWAKE" $lib edges/draw --seeds 1-500 --strategy random --jobs 1 --record all
ok "a sweep tells how many edges were reached" grep -q 'edges of code reached, the' sweep.txt
sweep two.db "$REWAKE" $lib edges/draw --seeds 1-500 --strategy random --jobs 3 --record all
counts='SELECT edge, first_run, runs, before_fault FROM code_coverage ORDER BY edge'
same "any number of workers counts the same" "$(ask one.db "$counts")" "$(ask two.db "$counts")"
sets='SELECT number, code_set, before, fresh FROM code_runs ORDER BY number'
same "... and keeps the same sets" "$(ask one.db "$sets")" "$(ask two.db "$sets")"
same "--record all keeps the set of each run" "$(ask one.db 'SELECT count(*) FROM code_runs')" 500

# The goal in the same function says in how many runs it was reached, without any edges.
runs=$(ask one.db "SELECT runs FROM covered WHERE element = 'goal'")
ok "the rare line was reached in some runs" test "$runs" -gt 5
of_line="file LIKE '%edges.c' AND function = 'rare'"
same "an edge of a user's library: in so many runs" \
    "$(ask one.db "SELECT DISTINCT runs FROM code_first WHERE $of_line")" "$runs"
same "which seeds reach a line: so many" \
    "$(ask one.db "SELECT count(DISTINCT seed) FROM code_seeds WHERE $of_line")" "$runs"
ok "edges are named by file, line and function" test "$(ask one.db \
    "SELECT count(*) FROM code_edges WHERE $of_line AND line BETWEEN $line - 4 AND $line")" -ge 1
# A seed that it names comes there, one that it does not name does not.
with=$(ask one.db "SELECT min(seed) FROM code_seeds WHERE $of_line")
without=$(ask one.db "SELECT min(seed_first + number) FROM sweeps JOIN code_runs USING (sweep)
    WHERE seed_first + number NOT IN (SELECT seed FROM code_seeds WHERE $of_line)")
sweep w.db "$REWAKE" $lib edges/draw --seeds "$with-$with" --strategy random
same "a seed that is named comes there" \
    "$(ask w.db "SELECT count(*) > 0 FROM code_first WHERE $of_line")" 1
sweep w.db "$REWAKE" $lib edges/draw --seeds "$without-$without" --strategy random
same "one that is not does not" "$(ask w.db "SELECT count(*) FROM code_coverage
    JOIN code_edges USING (edge) WHERE $of_line AND sweep = 2")" 0
same "a set is the same whether told as a difference or not" "$(ask one.db 'SELECT count(*) FROM
    code_sets AS s WHERE edges <> (SELECT count(*) FROM code_set_members AS m
                                   WHERE m.code_set = s.code_set)')" 0
ok "most sets are told as differences" test "$(ask one.db \
    'SELECT sum(base IS NULL) <= 1 AND count(*) >= 2 FROM code_sets')" = 1

# ---- Parts of a sweep, merged, are the sweep in one piece. ----
for i in 1 2 3; do
    sweep "part$i.db" "$REWAKE" $lib edges/draw --runs 300 --shard "$i/3" --jobs 1
done
sweep whole.db "$REWAKE" $lib edges/draw --runs 300 --shard 1/1 --jobs 2
ok "parts are merged" rewake merge merged.db part3.db part1.db part2.db
same "their edges add up" "$(ask merged.db "$counts")" "$(ask whole.db "$counts")"
news='SELECT number, news, fresh FROM runs ORDER BY number'
same "... and so does what has news" "$(ask merged.db "$news")" "$(ask whole.db "$news")"
members='SELECT number, fresh, edge FROM code_runs JOIN code_set_members USING (code_set)
    ORDER BY number, edge'
same "... and what each run of them reached" "$(ask merged.db "$members")" \
    "$(ask whole.db "$members")"

# ---- Only after a fault; what a sweep added. ----
sweep f.db "$REWAKE" $lib edges/visit --seeds 1-300 --strategy random -O faults=0
same "without faults nothing is reached only after one" \
    "$(ask f.db 'SELECT count(*) FROM code_only_after_a_fault')" 0
sweep f.db "$REWAKE" $lib edges/visit --seeds 1-300 --strategy random -O fault_one_in=4
same "what only a cancelled guest does is reached only after a fault" "$(ask f.db "
    SELECT count(*) > 0 FROM code_only_after_a_fault
    WHERE function = 'leave' AND line BETWEEN $late - 2 AND $late")" 1
same "... and entering is not" "$(ask f.db "SELECT count(*) FROM code_only_after_a_fault
    WHERE function IN ('visit', 'setup_visit')")" 0
same "what the second sweep added" "$(ask f.db "SELECT group_concat(DISTINCT function)
    FROM code_added WHERE sweep = 2 AND file LIKE '%edges.c'")" leave
same "nothing is added twice" "$(ask f.db 'SELECT count(*) - count(DISTINCT file || function || nth)
    FROM code_added')" 0

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
        "$root/sim/cli/json.schema.json" --some code.json edge.json
fi
same "... adds up to what is there" \
    "$(sed 's/.*"edges":\([0-9]*\).*/\1/' code.json | awk '{ n += $1 } END { print n }')" \
    "$(ask same.db 'SELECT count(*) FROM code_edges')"
REWAKE=$plain
refused "a database without edges" 4 coverage --code --db plain.db
ok "... says what to do" grep -q 'make BUILD=edges CC=clang' err.txt
refused "replay --code in a build without edges" 4 replay run:1 --code --db plain.db
refused "--distill --code in a build without edges" 4 coverage --code --distill --db same.db
REWAKE=$edges

# ---- Few runs that reach the same. ----
same "coverage --code --distill: status" "$(status coverage --code --distill --db same.db)" 0
all=$(ask same.db 'SELECT count(*) FROM runs')
awk '$2 == "more" { print $6 }' out.txt >tokens.txt
ok "fewer runs are enough" test "$(wc -l <tokens.txt)" -lt "$((all / 2))"
while read -r token; do
    rewake replay "$token" --code --json --db none.db 2>>replay.txt
done <tokens.txt | sed -n 's/.*"event":"edge","edge":"\([0-9]*\)".*/\1/p' | sort -u >replayed.txt
ask same.db 'SELECT DISTINCT edge FROM code_coverage' | sort -u >reached.txt
ok "they reach every edge that all runs reached, and no other" cmp replayed.txt reached.txt
done_testing
