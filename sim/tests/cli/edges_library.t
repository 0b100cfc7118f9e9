#!/bin/sh
# edges_library.t -- edges of code of a library of scenarios that is built to count them: any build
# of rewake stores which runs reach which.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
command -v clang >/dev/null || {
    echo '1..0 # SKIP clang is missing: scripts/setup --ci installs it'
    exit 0
}
[ $asan = no ] || {
    echo "1..0 # SKIP the program has asan, whose counters are no edges"
    exit 0
}
cc=clang
ok "a library outside of the tree builds with the flag" \
    build_library edges -fsanitize-coverage=inline-bool-flag,pc-table
lib=./edges.so
line=$(grep -n 'the rare line' "$root/sim/tests/cli/lib/edges.c" | cut -d: -f1)
late=$(grep -n 'after a fault' "$root/sim/tests/cli/lib/edges.c" | cut -d: -f1)

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

# ---- Edges reached, for any number of workers. ----
sweep one.db "$REWAKE" $lib edges/draw --seeds 1-500 --strategy random --jobs 1 --record all
ok "a sweep prints how many edges were reached" grep -q 'edges of code reached, the' sweep.txt
sweep two.db "$REWAKE" $lib edges/draw --seeds 1-500 --strategy random --jobs 3 --record all
counts='SELECT edge, first_run, runs, before_fault FROM code_coverage ORDER BY edge'
same "any number of workers counts the same" "$(ask one.db "$counts")" "$(ask two.db "$counts")"
sets='SELECT number, code_set, before, fresh FROM code_runs ORDER BY number'
same "... and keeps the same sets" "$(ask one.db "$sets")" "$(ask two.db "$sets")"
same "--record all keeps the set of each run" "$(ask one.db 'SELECT count(*) FROM code_runs')" 500

# The default schedule is no part of what is counted, and takes nothing away from it.
sweep once.db "$REWAKE" $lib edges/once --seeds 1-3 --strategy random --jobs 1
ok "the default schedule is made" grep -q '^default schedule: 1 run, 1 passed' sweep.txt
same "what a process executes only once counts for seed 1" "$(ask once.db "SELECT seed
    FROM code_seeds WHERE file LIKE '%edges.c' AND function = 'first'")" 1

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
same "a set is the same whether stored as a difference or not" "$(ask one.db 'SELECT count(*) FROM
    code_sets AS s WHERE edges <> (SELECT count(*) FROM code_set_members AS m
                                   WHERE m.code_set = s.code_set)')" 0
ok "most sets are stored as differences" test "$(ask one.db \
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

# ---- For people, and for programs. ----
same "coverage --code: status" "$(status coverage $lib --code --db one.db)" 0
ok "coverage --code: at most 100 columns" awk 'length > 100 { exit 1 }' out.txt
rewake coverage $lib --code --json --db one.db >code.json
ok "coverage --code --json" every_line_is_json code.json
same "... adds up to what is there" \
    "$(sed 's/.*"edges":\([0-9]*\).*/\1/' code.json | awk '{ n += $1 } END { print n }')" \
    "$(ask one.db 'SELECT count(*) FROM code_edges')"

# ---- Without it nothing is counted. ----
sweep plain.db "$REWAKE" articles/s1/two-requests --runs 2 --record all
refused "a database without edges" 4 coverage --code --db plain.db
ok "... says what to do" grep -q 'make BUILD=edges CC=clang' err.txt
refused "replay --code in a build without edges" 4 replay run:1 --code --db plain.db
refused "--distill --code in a build without edges" 4 coverage --code --distill --db one.db

# ---- Few runs that reach the same. ----
same "coverage --code --distill: status" "$(status coverage $lib --code --distill --db one.db)" 0
awk '$2 == "more" { print $6 }' out.txt >tokens.txt
ok "of 500 runs a few are enough" test "$(wc -l <tokens.txt)" -le 5
while read -r token; do
    rewake replay $lib "$token" --code --json --db none.db 2>>replay.txt
done <tokens.txt | sed -n 's/.*"event":"edge","edge":"\([0-9]*\)".*/\1/p' | sort -u >replayed.txt
ask one.db 'SELECT DISTINCT edge FROM code_coverage' | sort -u >reached.txt
ok "they reach every edge that all runs reached, and no other" cmp replayed.txt reached.txt
ok "there are such edges" test -s reached.txt
done_testing
