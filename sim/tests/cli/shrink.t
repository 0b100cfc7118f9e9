#!/bin/sh
# shrink.t -- rewake shrink: how far, the token, the exit status.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
scenario=zoo/smol-151/broken
rewake run $scenario --runs 200 --fail-fast --fresh --json --db r.db >r.json
token=$(token_of r.json)

# field NAME FILE: the text or number of a field of the only line that has it.
field() {
    sed -n 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/p' "$2"
}

# ---- It shrinks. ----
same "a failing token: status" "$(status shrink "$token")" 1
ok "how far is printed" \
    grep -q "^Minimized: [0-9]* scheduling choices* .* (was [0-9]*; [0-9]* replays)" out.txt
parts='options|faults|actors|preemptions|deviations|blocks|time|steps'
same "every part of the key is printed" "$(grep -cE "^($parts) +[0-9]+ +[0-9]+  " out.txt)" 8
ok "the smaller run is printed" grep -q '^step  ' out.txt
ok "nothing on stderr" test ! -s err.txt
small=$(sed -n 's/^replay: rewake replay //p' out.txt)
ok "nothing is wider than 100 columns, but for commands" \
    test -z "$(grep -v '^replay: \|^show: ' out.txt | grep '^.\{101\}')"
same "its token replays: status" "$(status replay "$small")" 1
ok "its token is the same failure" grep -q 'same failure, ' out.txt
ok "and the same run" grep -q 'digest expected \(.*\), actual \1$' out.txt
same "run:ID: status" "$(status shrink "$(first_failure r.db)" --db r.db)" 1
same "run:ID: the same token" \
    "$(sed -n 's/^replay: rewake replay \([^ ]*\).*/\1/p' out.txt)" "$small"
same "a shrunk token: status" "$(status shrink "$small")" 1
ok "a shrunk token is as small as it gets" grep -q '^Already minimal: ' out.txt
same "a shrunk token stays" "$(sed -n 's/^replay: rewake replay //p' out.txt)" "$small"

late=$(rewake run zoo/invented-journal/broken --fail-fast --record none --fresh |
    sed -n 's/^replay: rewake replay //p')
same "a late wake-up replays: status" "$(status replay "$late")" 1
ok "its tape fits" not_in out.txt 'does not fit'

sqlite3 r.db 'DELETE FROM shrunk'
rewake shrink "$(first_failure r.db)" --db r.db >again.txt
ok "run:ID: the result is stored with the run" \
    test "$(sqlite3 r.db "SELECT token FROM shrunk
        WHERE run = $(first_failure r.db | tail -c +5)")" = \
    "$(sed -n 's/^replay: rewake replay \([^ ]*\).*/\1/p' again.txt)"

# ---- For programs. ----
rewake shrink "$token" --json >j.json
ok "--json is JSON" every_line_is_json j.json
same "--json: result" "$(field result j.json)" shrunk
same "--json: token" "$(field token j.json)" "$small"
same "--json: end" "$(field end j.json)" minimal
rewake shrink "$small" --json >m.json
same "--json: as small as it gets" "$(field result m.json)" minimal

# ---- Limits. ----
rewake run zoo/libuv-1148/broken --runs 1000 --fail-fast --record none --json >long.json
long=$(token_of long.json)
same "--time: status" "$(status shrink "$long" --time 1ms)" 1
ok "--time says when it was hit" grep -q '; the time is up)\.$' out.txt
refused "--time of nothing" 2 shrink "$long" --time soon

# ---- What cannot be shrunk. ----
rewake run zoo/smol-151/fixed --strategy baseline --runs 1 --record all --fresh --db p.db >/dev/null
same "a passing run: status" "$(status shrink run:1 --db p.db)" 0
ok "a passing run: printed" grep -q 'it passes: there is nothing to minimize' out.txt
refused "no token" 2 shrink hello
refused "a token cut" 2 shrink "${token%?}"
refused "no such run" 2 shrink run:99999 --db r.db
refused "no database" 70 shrink run:1 --db nowhere.db
refused "a token of a scenario that is not here" 125 \
    shrink rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi
refused "two tokens" 2 shrink "$token" "$small"

# ---- Another program by now. ----
build_library fixed
cp fixed.so fixed-first.so
rewake run ./fixed.so --runs 50 --fail-fast --fresh --json --db m.db >m.json
token=$(token_of m.json)
same "a library's failure: status" "$(status shrink ./fixed.so "$token")" 1
ok "as few digits as it takes" grep -q '^deviations .* 2  from the baseline run' out.txt
for command in shrink explain show replay; do
    refused "$command: a library, and a run that is not of it" 125 \
        $command ./fixed.so "$(first_failure r.db)" --db r.db
done
status shrink ./fixed.so "$token" >/dev/null
ok "its command names the library" grep -q '^replay: rewake replay ./fixed.so rw1:' out.txt
build_library fixed -DFIXED
same "one that is fixed: status" "$(status shrink ./fixed.so "$token")" 0
ok "one that is fixed: printed" grep -q '^mine/fixed: it no longer fails$' out.txt
same "one that is fixed: --json" "$(rewake shrink ./fixed.so "$token" --json |
    sed -n 's/.*"result":"\([^"]*\)".*/\1/p')" no-longer-fails
build_library fixed -DELSEWHERE
same "one that fails elsewhere: status" "$(status shrink ./fixed.so "$token")" 3
ok "one that fails elsewhere: printed" grep -q "another failure than the token's" out.txt
done_testing
