#!/bin/sh
# replay.t -- replay, show, diff; tokens that are damaged or not ours.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
canary=canary/lost-wakeup
rewake run --strategy random $canary --runs 300 --fresh --json --db r.db >r.json
token=$(token_of r.json)
# Failing runs that are rows only.
rows='FROM runs LEFT JOIN details USING (run) WHERE verdict <> 0 AND token IS NULL'
row=$(sqlite3 r.db "SELECT min(run) $rows")
other=$(sqlite3 r.db "SELECT max(run) $rows")
passing=$(rewake replay "run:$row" --json --db r.db | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')

# ---- The same run. ----
same "replay: status" "$(status replay "$token")" 1
ok "replay: same failure" grep -q 'same failure, lost-wakeup (oracle rewake)' out.txt
ok "replay: same digest" grep -q 'digest expected \(.*\), actual \1$' out.txt
same "replay run:ID: status" "$(status replay "run:$row" --db r.db)" 1
ok "a row without a token makes one" test -n "$passing"
same "that token is good: status" "$(status replay "$passing")" 1
rewake replay "$token" --json --db r.db >j.json
ok "replay --json is JSON" every_line_is_json j.json
rewake run 'articles/*' --runs 20 --jobs 2 --fresh --db r2.db >/dev/null
same "after other runs, the same" "$(rewake replay "$token" --json | grep -o '"digest":"[^"]*"')" \
    "$(grep -o '"digest":"[^"]*"' j.json)"
for jobs in 1 3; do
    rewake run $canary --runs 300 --jobs $jobs --fresh --json --db n.db |
        grep -o '"token":"[^"]*"' >n$jobs.txt
done
same "the token of 1 and 3 workers" "$(cat n3.txt)" "$(cat n1.txt)"
rewake run $canary --strategy baseline --runs 2 --record all --fresh --db d.db >/dev/null
same "the baseline run, by its tape: status" "$(status replay run:1 --db d.db)" 0
ok "the baseline run: it passes again" grep -q 'same run: it passes' out.txt
rewake query 'SELECT count(DISTINCT run) AS n FROM events' --json --db d.db >refilled.json
same "replay refills events" "$(cat refilled.json)" '{"n":1}'

# ---- Tokens that cannot be judged. ----
refused "an empty token" 2 replay ''
refused "no token" 2 replay hello
refused "a token cut" 2 replay "${token%?}"
refused "a token with a character changed" 2 replay "$(echo "$token" | sed 's/.$/7/;t')x"
refused "a token in capitals" 2 replay "$(echo "$token" | tr a-z A-Z)"
refused "a token of another decision version" 125 replay rw1:a:1:aiaaaaaaaqbqeaiaaaaaaaaaaaacgflice
refused "a token of a scenario that is not here" 125 \
    replay rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi
refused "no such run" 2 replay run:99999 --db r.db
refused "no number of a run" 2 replay run:x --db r.db
refused "no database" 70 replay run:1 --db nowhere.db
refused "too many arguments" 2 show "$token" "$token"

# ---- Many in one process. ----
rewake run articles/s1/two-requests --strategy random --seeds 1-3 --record all --fresh --db p.db \
    >/dev/null
passes=$(rewake replay run:1 --json --db p.db | grep -o '"token":"[^"]*"' | cut -d '"' -f 4)
printf '# for people: %s\n\n  %s %s\r\n%s # and this\n' "$token" "$token" "$passes" "$token" >list
same "replay --each: status" "$(status replay --each @list run:2 --db p.db)" 1
same "replay --each: equal runs are one line" "$(cat out.txt)" \
    "4 runs replayed: 4 the same"
same "replay --each -: passing ones: status" "$(echo "$passes $passes" | "$REWAKE" replay --each - |
    sed 's/$/ 0/')" "2 runs replayed: 2 the same 0"
rewake replay --each @list --json >each.json
ok "replay --each --json" every_line_is_json each.json
same "replay --each --json: a line each, and one of all" \
    "$(sed 's/.*"event":"\([a-z]*\)".*/\1/' each.json | tr '\n' ' ')" \
    "replay replay replay replays "
same "replay --each --json: as one by one" "$(head -n 1 each.json)" "$(cat j.json)"
printf 'hello\n%s\nrw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi\n' "$token" >bad
same "replay --each: the gravest status" "$(status replay --each @bad)" 2
same "... the rest is replayed" "$(cat out.txt)" \
    "1 run replayed: 1 the same; 2 could not be judged"
same "... one line for each that is refused" "$(grep -c '^rewake replay: ' err.txt)" 2
same "replay --each: nothing worse than what cannot be judged" \
    "$(sed 1d bad >unknown; status replay --each @unknown)" 125
build_library fixed
rewake run ./fixed.so --runs 50 --fail-fast --fresh --json --no-shrink --db m.db >m.json
failing=$(token_of m.json)
echo "$failing" >fixed
same "replay --each with a library: status" "$(status replay ./fixed.so --each @fixed)" 1
build_library fixed -DFIXED
same "replay --each of what was fixed: status" "$(status replay ./fixed.so --each @fixed)" 0
ok "... is printed" \
    grep -Eq '^mine/fixed, seed [0-9]+: it no longer fails, pass .*; it was ' out.txt
same "... is counted" "$(tail -n 1 out.txt)" \
    "1 run replayed: 0 the same, 1 without a failure, by other events"
build_library fixed -DELSEWHERE
same "replay --each of what fails elsewhere: status" "$(status replay ./fixed.so --each @fixed)" 3
same "... is counted" "$(tail -n 1 out.txt)" "1 run replayed: 0 the same, 1 different"
refused "replay --each of an empty file" 2 replay --each @/dev/null
refused "replay --each of a file that is not there" 2 replay --each @nowhere
refused "replay --each --step" 2 replay --each @list --step 1
refused "replay --each --export" 2 replay --each @list --export x.json
refused "two runs without --each" 2 replay "$token" "$token"
ok "... says what to do" grep -q -- '--each to replay them all' err.txt

# ---- show, diff. ----
same "show: status" "$(status show "$token")" 0
ok "show: the missing wake" grep -q 'but could make progress' out.txt
ok "show: the ledger" grep -q '^who .*waits for' out.txt
ok "show: no colours in a file" not_in out.txt "$(printf '\033')"
same "NO_COLOR wins over CLICOLOR_FORCE" "$(NO_COLOR=1 CLICOLOR_FORCE=1 "$REWAKE" show "$token" |
    grep -c "$(printf '\033')")" 0
CLICOLOR_FORCE=1 "$REWAKE" show "$token" >colour.txt
ok "CLICOLOR_FORCE colours" grep -q "$(printf '\033')" colour.txt
same "diff of a run with itself: status" "$(status diff "$token" "$token")" 0
same "diff of two runs: status" "$(status diff "$token" "run:$other" --db r.db)" 3
ok "diff of two runs: it is printed" test -s out.txt
refused "diff of one" 2 diff "$token"

# ---- query and bad databases. ----
same "query: status" "$(status query 'SELECT 1 AS one' --db r.db)" 0
same "query --json" "$(rewake query 'SELECT 1 AS one' --json --db r.db)" '{"one":1}'
refused "query: syntax" 2 query 'SELEKT 1' --db r.db
refused "query: nothing is written" 2 query 'DELETE FROM runs' --db r.db
refused "query: no database" 70 query 'SELECT 1' --db nowhere.db
echo 'this is a letter' >letter.db
cp letter.db letter.kept
refused "a file that is not ours" 70 run $canary --runs 1 --db letter.db
same "a file that is not ours is left alone" "$(cat letter.db)" "$(cat letter.kept)"
sqlite3 theirs.db 'CREATE TABLE mine (x); PRAGMA application_id = 1'
refused "a database that is not ours" 70 run $canary --runs 1 --db theirs.db
cp r.db newer.db
sqlite3 newer.db 'PRAGMA user_version = 1000' >/dev/null
refused "a newer database" 70 run $canary --runs 1 --db newer.db
head -c 3000 r.db >cut.db
refused "a database cut" 70 run $canary --runs 1 --db cut.db
mkdir folder.db
refused "a folder" 70 run $canary --runs 1 --db folder.db
refused "a folder that is not there" 70 run $canary --runs 1 --db a/b/c/d.db
(
    ulimit -f 300 # Half-kilobytes: as good as a full disk.
    status run $canary --runs 100000 --record all --fresh --db full.db >full.status
)
same "a full disk: status" "$(cat full.status)" 70
ok "a full disk: one line" one_line err.txt
same "a full disk: what is there is whole" "$(sqlite3 full.db 'PRAGMA integrity_check')" ok
if [ -w /dev/full ]; then
    "$REWAKE" list >/dev/full 2>err.txt
    same "a full disk for stdout: status" "$?" 70
    ok "a full disk for stdout: one line" one_line err.txt
fi
done_testing
