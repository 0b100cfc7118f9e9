#!/bin/sh
# library.t -- a user's own library: crashes, hangs, leaks, memory; and libraries that do not load.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
ok "a library outside of the tree builds" build_library bad
lib=./bad.so

# verdict_of NAME ARGS...: the verdicts of a sweep, as JSON has them.
verdict_of() {
    name=$1
    shift
    rewake run $lib "$name" --fresh --json --db l.db "$@" 2>/dev/null |
        sed -n 's/.*"event":"scenario".*"verdicts":{\([^}]*\)}.*/\1/p'
}
message_of() {
    rewake run $lib "$1" --runs 1 --fresh --json --db l.db 2>/dev/null |
        sed -n 's/.*"event":"failure".*"message":"\([^"]*\)".*/\1/p'
}

same "list: its scenarios only" "$(rewake list $lib | grep -v '^ ' | grep -vc '^bad/')" 0
rewake list $lib >list.txt
ok "list: parameters" grep -q -- '-D size=4  Nothing but a number. (1 to 9)' list.txt
ok "list --json" sh -c "'$REWAKE' list $lib --json >list.json"
ok "list --json is JSON" every_line_is_json list.json

# ---- However a run ends, it has a verdict, and the sweep continues. ----
same "a good one" "$(verdict_of bad/good --runs 50)" '"pass":50'
# Each of them fails on the default schedule too, which counts.
same "a crash" "$(verdict_of bad/crash --runs 20)" '"crash":21'
same "a crash in some runs" "$(verdict_of bad/some-crash --seeds 1-64 --jobs 1)" \
    "$(verdict_of bad/some-crash --seeds 1-64 --jobs 3)"
rewake run $lib bad/some-crash --seeds 1-64 --fresh --db l.db >some.txt 2>&1
ok "a crash in some runs: others pass" grep -q '64 runs  [0-9]* pass  [0-9]* crash' some.txt
same "abort" "$(verdict_of bad/abort --runs 3)" '"crash":4'
same "exit" "$(verdict_of bad/exit --runs 3)" '"crash":4'
same "exit: it is said" "$(message_of bad/exit)" 'exit(3) was called inside the run'
same "a stack that overflows" "$(verdict_of bad/overflow --runs 2)" '"crash":3'
message_of bad/overflow >message.txt
ok "a stack that overflows: it is said" grep -q 'the stack overflowed' message.txt
same "a guest's stack that overflows" "$(verdict_of bad/guest-overflow --runs 2)" '"crash":3'
message_of bad/guest-overflow >message.txt
ok "a guest's stack that overflows: it is said" grep -q 'the stack overflowed' message.txt
# With the sanitizers it is their report that ends the process, by abort.
message_of bad/crash >message.txt
[ $asan = yes ] || ok "a crash: null is said" \
    grep -q '^SIGSEGV, NULL written in crash (bad\.c:[0-9]*)$' message.txt
verdict_of bad/some-hang --seeds 1-4 --hang 400ms >hang.txt
ok "a hang in some runs" grep -q '"pass":.*"hang":' hang.txt
same "a leak" "$(verdict_of bad/leak --runs 5)" '"leak":6'
same "malloc and all its family" "$(verdict_of bad/mallocs --runs 50)" '"pass":50'
same "variables of the library are put back" "$(verdict_of bad/remembers --runs 300 --jobs 1)" \
    '"pass":300'
same "all of them pass with --expect: status" "$(status run $lib bad/crash bad/some-crash bad/exit \
    bad/leak bad/mallocs bad/remembers bad/prints bad/abort --expect --fresh --runs 40 --db l.db)" 0
rewake run $lib bad/crash --fail-fast --fresh --json --db l.db >fast.json 2>/dev/null
same "--fail-fast with a crash: one failure" "$(grep -c '"event":"failure"' fast.json)" 1

# ---- A worker in a hang does not outlive a rewake that is killed. ----
"$REWAKE" run $lib bad/some-hang --hang 60s --jobs 1 --fresh --db o.db >/dev/null 2>&1 &
pid=$!
soon has_computed $pid
worker=$(pgrep -P $pid)
kill -KILL $pid
wait $pid 2>/dev/null
ok "kill -9 with a hang: there was a worker" test -n "$worker"
ok "kill -9 with a hang: it is gone" soon gone "$worker"

# ---- stdout is caught. ----
same "printing: nothing on stdout but JSON" \
    "$(rewake run $lib bad/prints --runs 5 --json --fresh --db p.db | grep -vc '^{"v":1')" 0
rewake run $lib bad/prints-and-fails --runs 1 --no-shrink --fresh --db p.db >p.txt
ok "printing: the lines are in the columns" grep -q 'said before the end' p.txt
rewake query "SELECT text FROM trace WHERE kind = 'out'" --json --db p.db >said.json
same "printing: lines are events" "$(cat said.json)" '{"text":"said before the end"}'

# ---- Determinism. ----
same "replica: a good one: status" \
    "$(status run $lib bad/good bad/mallocs --runs 200 --check-determinism 100 --fresh --db t.db)" 0
ok "replica: a good one was checked" test -z "$(grep 'bad/good' out.txt | grep -v pass)"
same "replica: uninitialised memory: status" \
    "$(status run $lib bad/reads-fresh --runs 3 --check-determinism 100 --fresh --db t.db)" 3
ok "replica: the first difference is printed" grep -q '^A replica run differs: ' out.txt
same "replica: it is in the database" "$(rewake query "SELECT count(*) AS n FROM failures
    WHERE verdict = 'diverged' AND scenario = 'bad/reads-fresh'" --json --db t.db)" '{"n":1}'
same "replica: an address: status" \
    "$(status run $lib bad/asks-address --runs 3 --check-determinism 100 --fresh --db t.db)" 3
same "without replica runs these pass" \
    "$(status run $lib bad/reads-fresh bad/asks-address --runs 3 --fresh --db t.db)" 0
same "a failure that does not come alone: status" \
    "$(status run $lib bad/has-past --runs 20 --jobs 1 --fresh --db t.db)" 3
ok "a failure that does not come alone: diverged" \
    grep -q '^FAIL bad/has-past: diverged (run:[0-9]*)$' out.txt
# Run 0 has a process to itself: seed 1 is the first run of the worker, and passes.
ok "a failure that does not come alone: the range" grep -q -- '--seeds 1-2 --jobs 1' out.txt
same "the default schedule is no past of the seeds" "$(verdict_of bad/has-past --runs 1)" '"pass":1'
ok "a failure that does not come alone: no false seed" not_in out.txt 'rewake replay'

# ---- Tokens name the library. ----
rewake run $lib bad/crash --runs 1 --fresh --json --db c.db >c.json 2>/dev/null
token=$(token_of c.json)
rewake run $lib bad/crash --runs 1 --fresh --db c.db >c.txt 2>/dev/null
ok "commands name it" grep -q "rewake replay $lib rw1:bad/crash:0:" c.txt
same "replay of a crash: status" "$(status replay $lib "$token")" 1
ok "replay of a crash: the same" grep -q 'same failure, crash' out.txt
refused "replay without the library" 125 replay "$token"
same "replay run:ID finds the library: status" "$(status replay run:1 --db c.db)" 1
same "a parameter is in the token" "$(rewake run $lib bad/prints-and-fails -O step_ns=7 --runs 1 \
    --fresh --json --db c.db >o.json; status replay $lib "$(token_of o.json)")" 1

# ---- Libraries that do not load. ----
for name in old twice falls plain; do
    build_library $name
done
echo 'no library' >text.so
refused "a file that is none" 2 run ./text.so
refused "a file that is not there" 2 run ./missing.so
refused "another version" 2 run ./old.so
refused "a name that is taken" 2 run ./twice.so
refused "a library that crashes while it is loaded" 2 run ./falls.so
for leave in exit _exit; do
    build_library leaves -DLEAVE=$leave
    refused "a library whose constructor calls $leave(0)" 2 run ./leaves.so
    ok "a library whose constructor calls $leave(0): it is said" grep -q 'called exit' err.txt
done
for wrong in .order=77 .profile=77 .survives=1024 .slack_ns=-1 .bug=\"X1\"; do
    build_library odd -DWRONG=$wrong
    refused "a scenario with $wrong" 2 list ./odd.so
    ok "a scenario with $wrong: it is named" grep -q "scenario 'odd/number'" err.txt
done
refused "a library without a scenario" 2 run ./plain.so
same "a library without a slash is here" "$(status list bad.so)" 0
done_testing
