#!/bin/sh
# export_run.t -- one run for other programs: Perfetto, Chrome, Graphviz. Each is read by another
# program than ours: protoc, jq, dot.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
name=zoo/tokio-4497/broken
rewake run $name --runs 300 --fresh --json --db a.db >a.json
token=$(grep -o '"shrunk":{"token":"[^"]*"' a.json | head -n 1 | cut -d '"' -f 6)
run=$(first_failure a.db)

# decode FILE: a Perfetto trace as text, by the field numbers that Perfetto publishes.
decode() {
    protoc --proto_path="$root/reports/tests" --decode=Trace perfetto.proto <"$1" >"$1.txt"
}
# count PATTERN FILE
count() {
    grep -c "$1" "$2"
}
have() {
    command -v "$1" >/dev/null || {
        echo "# skipped: $1 is missing; scripts/setup --ci installs it"
        return 1
    }
}

# ---- By the end of the file's name. ----
for end in pftrace perfetto-trace json dot; do
    same "replay --export x.$end: its own status" "$(status replay "$token" --export x.$end)" 1
    ok "replay --export x.$end: a file" test -s x.$end
done
same "the same run, the same file" "$(cmp x.pftrace x.perfetto-trace && echo same)" same
cp x.dot kept
refused "a file that is there already" 2 replay "$token" --export x.dot
same "a file that is there already stays" "$(cmp x.dot kept && echo same)" same
refused "an end that says nothing" 2 replay "$token" --export x.svg
ok "an end that says nothing: those that do" grep -q '.pftrace' err.txt
refused "a folder that is not there" 2 replay "$token" --export nowhere/x.dot
same "nothing is left in the folder of temporary files" \
    "$(mkdir tmp && TMPDIR=$tmp/tmp "$REWAKE" replay "$token" --export y.dot >/dev/null; ls tmp)" ""
refused "a format of runs wants a run" 2 export perfetto --db a.db
refused "a run without events" 4 export graphviz \
    "run:$(sqlite3 a.db 'SELECT min(run) FROM runs WHERE run NOT IN (SELECT run FROM events)')" \
    --db a.db

# ---- Perfetto. ----
if have protoc; then
    ok "Perfetto: protoc reads it" decode x.pftrace
    ok "Perfetto: all of it has a name there" not_in x.pftrace.txt '^ *[0-9][0-9]*[:{ ]'
    begins=$(count TYPE_SLICE_BEGIN x.pftrace.txt)
    steps=$(rewake replay "$token" --json | grep -o '"steps":[0-9]*' | cut -d : -f 2)
    same "Perfetto: a slice each step" "$begins" "$steps"
    same "Perfetto: each one ends" "$(count TYPE_SLICE_END x.pftrace.txt)" "$begins"
    same "Perfetto: tracks of the tasks and the loop, and the root" \
        "$(grep -A 6 'track_descriptor {' x.pftrace.txt | grep -o 'name: .*' | cut -d '"' -f 2 |
            sort | tr '\n' ' ')" 'greeter operator peer rt server zoo/tokio-4497/broken '
    # Each arrow ends once, and where it began: three wakes, and the one that is missing.
    flows=$(grep -o '  flow_ids: .*' x.pftrace.txt | grep -o '[0-9]*' | sort)
    same "Perfetto: wakes" "$(echo "$flows" | wc -l)" 4
    same "Perfetto: each one arrives" \
        "$(grep -o 'terminating_flow_ids: .*' x.pftrace.txt | grep -o '[0-9]*' | sort)" "$flows"
    ok "Perfetto: the missing one" grep -q 'name: "here it should have been woken"' x.pftrace.txt
    ok "Perfetto: the verdict" grep -q 'name: "lost-wakeup"' x.pftrace.txt
    same "Perfetto: a slice has the name of its kind" \
        "$(count '^    name: "poll"$' x.pftrace.txt)" "$(count 'categories: "poll"' x.pftrace.txt)"
    ok "Perfetto: its events are an argument" \
        sh -c 'grep -A 1 "string_value: \"poll.*stores waker" x.pftrace.txt | grep -q "\"events\""'
    ok "Perfetto: lines of source" grep -q 'file_name: ".*scenarios/zoo/tokio-4497.c"' x.pftrace.txt
    same "Perfetto: virtual nanoseconds" \
        "$(grep -o 'timestamp: [0-9]*' x.pftrace.txt | sort -u | sed -n '1,2p' | tr '\n' ' ')" \
        'timestamp: 0 timestamp: 100 '
    same "export perfetto run:ID: status" \
        "$(status export perfetto "$run" -o r.pftrace --db a.db)" 0
    ok "export perfetto run:ID: protoc reads it" decode r.pftrace
fi

# ---- Chrome. ----
if have jq; then
    ask() {
        jq -r "$2" "$1"
    }
    same "Chrome: an object with events" "$(ask x.json '.traceEvents | length > 20')" true
    same "Chrome: a turn each step" \
        "$(ask x.json '[.traceEvents[] | select(.ph == "X")] | length')" \
        "$(rewake replay "$token" --json | jq .steps)"
    same "Chrome: microseconds" \
        "$(ask x.json '[.traceEvents[] | select(.args.step == 2) | .ts, .dur] | map(. * 1000 | round)
            | join(" ")')" '100 100'
    same "Chrome: arrows have two ends" \
        "$(ask x.json '[.traceEvents[] | select(.ph == "s") | .id] | sort | join(" ")')" \
        "$(ask x.json '[.traceEvents[] | select(.ph == "f") | .id] | sort | join(" ")')"
    same "Chrome: three of them" \
        "$(ask x.json '[.traceEvents[] | select(.ph == "s")] | length')" 3
    same "Chrome: lanes that are used have a name" "$(ask x.json '([.traceEvents[]
        | select(.ph == "X") | .tid] | unique) - [.traceEvents[]
        | select(.name == "thread_name") | .tid] | length')" 0
    same "Chrome: times never go back in a lane" "$(ask x.json '[.traceEvents[]
        | select(.ph == "X")] | group_by(.tid) | map([.[].ts] | . == sort) | all')" true
    same "Chrome: the verdict" "$(ask x.json .otherData.verdict)" lost-wakeup
fi

# ---- Graphviz. ----
ok "Graphviz: wakes" grep -q 'label="tokio-4497.c:129"' x.dot
ok "Graphviz: the missing wake" \
    grep -q 'label="missing, expected from step 8", style=dashed, color=red' x.dot
if have dot; then
    ok "Graphviz: dot reads it" dot -Tplain x.dot -o x.plain
    same "Graphviz: four edges, one of them missing" "$(grep -c '^edge ' x.plain)" 4
fi

# ---- Names that are hard to write down. ----
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" \
    "$root/reports/tests/lib/odd_names.c" -o odd_names.so
rewake run ./odd_names.so --runs 2 --record all --fresh --db o.db >o.txt
rewake replay run:1 --db o.db >/dev/null
for end in pftrace json dot; do
    rewake replay run:1 --db o.db --export o.$end >o.txt
    ok "odd names: .$end" test -s o.$end
done
have protoc && {
    ok "odd names: protoc reads them" decode o.pftrace
    ok "odd names: no UTF-8 is said" grep -q '\\357\\277\\275' o.pftrace.txt
}
have jq && {
    same "odd names: jq reads them" "$(jq -r '[.traceEvents[] | select(.name == "thread_name")
        | .args.name] | contains(["two lines {}", "\"quoted\\"])' o.json)" true
}
have dot && {
    dot -Tplain o.dot -o o.plain 2>dot.err
    ok "odd names: dot reads them" test -s o.plain
    same "odd names: and says nothing" "$(cat dot.err)" ""
}

# ---- Long runs. ----
rewake run canary/livelock --runs 1 -O livelock_steps=18000 --no-shrink --record all --fresh \
    --db l.db >/dev/null
same "a long run has 100,000 events" \
    "$(sqlite3 l.db 'SELECT max(events) > 100000 FROM runs')" 1
for format in perfetto chrome graphviz; do
    same "a long run: $format" "$(status export $format run:1 -o l.$format --db l.db)" 0
done
have protoc && {
    decode l.perfetto
    same "a long run: no step is left out" "$(count TYPE_SLICE_BEGIN l.perfetto.txt)" 18000
}
same "a long run: wakes of one line are one edge" "$(count ' -> ' l.graphviz)" 2
done_testing
