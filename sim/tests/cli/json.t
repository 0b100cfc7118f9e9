#!/bin/sh
# json.t -- what every command prints with --json is what the schema says, key by key.
# (sim/cli/print/json.schema.json)
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
python=
for each in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $each -c 'import jsonschema' 2>/dev/null || python=$each
done
[ -n "$python" ] || {
    echo '1..0 # SKIP python3-jsonschema is missing: scripts/setup --ci installs it'
    exit 0
}
schema=$root/sim/cli/print/json.schema.json
lines=$root/sim/tests/cli/json_lines.py

ok "the schema has all keys that are written, and all verdicts and oracles" \
    $python "$lines" "$schema" --words "$root/sim/core/record/outcome.h" "$root"/sim/cli/*.c \
        "$root"/sim/cli/*/*.c

# ---- Runs: as many ways to end as there are. ----
# json NAME ARGS...: one more file.
json() {
    name=$1
    shift
    rewake "$@" --json >"$name.json" 2>/dev/null
}
build_library bad
cp "$root/reports/tests/lib/odd_words.c" "$root/reports/tests/lib/odd_names.c" .
for odd in odd_words odd_names; do
    # shellcheck disable=SC2086 # Several flags.
    $cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" $odd.c \
        -o $odd.so
done
json canaries run 'canary/*' --runs 30 --hang 300ms --fresh --db a.db
json again run canary/lost-wakeup --runs 1 --db a.db
json taped run zoo/tokio-4497/broken --runs 60 --fresh --db t.db
json broken run ./bad.so bad/crash bad/exit bad/leak bad/prints-and-fails --runs 3 --fresh --db b.db
json twins run ./bad.so bad/reads-fresh bad/has-past --runs 3 --jobs 1 --check-determinism 100 \
    --fresh --db c.db
json words run ./odd_words.so --runs 20 --fresh --db o.db
json names run ./odd_names.so --runs 3 --record all --fresh --db n.db
json options run ./bad.so bad/has-past -D size=5 -O step_ns=7 --runs 3 --strategy random \
    --record none
json timed run articles/s1/two-requests --time 200ms --record none --no-shrink
json goals run 'articles/s1/*' --runs 40 --goals --fresh --db g.db
json shard1 run canary/lost-wakeup --runs 40 --shard 1/2 --fresh --db s1.db
json shard2 run canary/lost-wakeup --runs 40 --shard 2/2 --fresh --db s2.db
json nothing run canary/lost-wakeup --runs 1 --expect --fresh --db e.db

# ---- All other commands. ----
token=$(token_of taped.json)
small=$(grep -o '"shrunk":{"token":"[^"]*"' taped.json | head -n 1 | cut -d '"' -f 6)
crash=$(token_of broken.json)
json list list
json list-odd list ./odd_words.so
json list-params list ./bad.so
json replay replay "$token" --db t.db
json replay-lenient replay "$small" --lenient
json replay-each replay --each "$token" "$small"
json replay-crash replay ./bad.so "$crash"
json replay-odd replay ./odd_words.so "$(token_of words.json)"
json diff diff "$token" "$small" --db t.db
json diff-same diff "$token" "$token" --db t.db
json shrink shrink "$token" --db t.db
json shrink-least shrink "$small" --db t.db
json explain explain "$small" --db t.db
json explain-crash explain ./bad.so "$crash"
json explain-canary explain "$(token_of canaries.json)"
json explore explore canary/lost-wakeup --runs 500 --db x.db
json explore-bound explore canary/lost-wakeup --bound 1 --db x.db
json explore-none explore articles/s1/two-requests --bound 0 --record none
json coverage coverage --db g.db
json coverage-failed coverage --db a.db --all
json distill coverage --distill --db g.db
json zoo zoo zoo/tokio-4497 --db z.db
json zoo-programs zoo --programs
json measure measure canary/lost-wakeup --strategy random --runs 60 --db m.db
json promote promote "$small" --name kept -o .
json merge merge merged.db s1.db s2.db
for file in *.json; do
    [ -s "$file" ] || echo "# nothing: $file"
done
ok "every line fits, and each kind of object was seen" $python "$lines" "$schema" ./*.json

same "diff: they part where each does something else" \
    "$(grep -o '"result":"[^"]*"' diff.json) $(grep -o '"then":"step [0-9]*, [a-z]*: ' diff.json |
        sort -u | wc -l)" '"result":"event" 2'
same "diff of a run with itself: all is in common" \
    "$(grep -o '"result":"[^"]*"\|"then":[^,}]*' diff-same.json | sort -u | tr '\n' ' ')" \
    '"result":"same" "then":null '

# ---- The test itself: what is not in the schema is noticed. ----
sed 's/"steps":/"stops":/' replay.json >planted
$python "$lines" "$schema" planted >said.txt
ok "a key that is not documented is noticed" grep -q "^planted:1: .*'stops' was unexpected" said.txt
sed 's/"verdict":"[^"]*"/"verdict":"bad"/' replay.json >planted
$python "$lines" "$schema" planted >said.txt
ok "a verdict that is none is noticed" grep -q "^planted:1: 'bad' is not one of" said.txt
echo '{"v":1,"event":"rumour"}' >planted
$python "$lines" "$schema" planted >said.txt
ok "an event that is not documented is noticed" grep -q '^planted:1: no such event' said.txt

# ---- Rows of a query are the caller's own. ----
rewake query 'SELECT scenario, verdict, seed FROM failures' --json --db a.db >rows
ok "query: JSON" every_line_is_json rows
done_testing
