#!/bin/sh
# subject.t -- how a run is named: tokens on stdin and in files, long ones, runs that were shrunk.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- A token that no command line takes. ----
build_library long
# Not of the default schedule, which part 1 makes: its token is short.
rewake run ./long.so --strategy pos -O livelock_steps=20000 --runs 2 --shard 2/2 --no-shrink \
    --record none --fresh >long.txt
ok "a long token: it is said" grep -q '^The token is too long for an argument' long.txt
ok "a long token: as a command that the shell takes" \
    grep -q '^replay: echo rw1:long/numbers:[^ ]* | rewake replay \./long\.so -$' long.txt
sed -n 's/^replay: echo \([^ ]*\) .*/\1/p' long.txt >long
ok "a long token is longer than an argument" test "$(wc -c <long)" -gt 131072
same "replay @FILE: status" "$(status replay ./long.so @long)" 1
ok "replay @FILE: the same failure" grep -q 'same failure, livelock' out.txt
cp out.txt file.txt
same "replay -: status" "$(status replay ./long.so - <long)" 1
same "replay -: as from the file" "$(cat out.txt)" "$(cat file.txt)"
same "show -: status" "$(status show ./long.so - <long)" 0
ok "show -: says how to replay it" grep -q \
    '^replay: echo rw1:[^ ]* | rewake replay \./long\.so -$' out.txt
same "diff @FILE -: status" "$(status diff ./long.so @long - <long)" 0

# ---- A short one. ----
rewake run zoo/smol-151/broken --runs 300 --fail-fast --fresh --json --db r.db >r.json
token=$(token_of r.json)
found=$(first_failure r.db)
printf '\n  %s\r\n' "$token" >short
for command in replay shrink explain; do
    same "$command @FILE: as by the token" "$(status $command @short; cat out.txt)" \
        "$(status $command "$token"; cat out.txt)"
done
ok "a short token: nothing is said" not_in out.txt 'longer than a command line'
refused "a file that is not there" 2 replay @nowhere
refused "an empty file" 2 replay @/dev/null
refused "two tokens in a file" 2 replay @long.txt
refused "no token in a file" 2 replay @r.db
refused "nothing on stdin" 2 show - </dev/null

# ---- A run that was shrunk. ----
smallest=$(sqlite3 r.db "SELECT token FROM shrunk WHERE run = $(echo "$found" | tail -c +5)")
same "show run:ID: status" "$(status show "$found" --db r.db)" 0
as_found=$(sqlite3 r.db "SELECT token FROM details WHERE run = $(echo "$found" | tail -c +5)")
ok "show run:ID: says which run it is" grep -q "^This is $found as it was found" out.txt
ok "show run:ID: how to replay it as it was found" \
    grep -qxF "replay: rewake replay $as_found --db r.db" out.txt
same "show run:ID: the last line has the smallest run" \
    "$(tail -n 1 out.txt)" "shrunk: rewake show $smallest --db r.db"
same "show of its token: as run:ID" "$(status show "$as_found" --db r.db; tail -n 1 out.txt)" \
    "0
shrunk: rewake show $smallest --db r.db"
same "replay run:ID: status" "$(status replay "$found" --db r.db)" 1
ok "replay run:ID: says which run it is" grep -q "^This is $found as it was found" out.txt
same "replay run:ID: the last line has the smallest run" \
    "$(tail -n 1 out.txt)" "shrunk: rewake replay $smallest --db r.db"
ok "replay run:ID: no line but those of commands is wider than 100 columns" \
    awk '!/^[a-z]*: *rewake / && length($0) > 100 { exit 1 }' out.txt
same "show of the smallest: status" "$(status show "$smallest" --db r.db)" 0
ok "show of the smallest: nothing smaller is offered" not_in out.txt 'It was shrunk\|^shrunk:'
rewake explain "$found" --db r.db >explained.txt
ok "explain run:ID explains the smallest run" \
    grep -qxF "replay: rewake replay $smallest --db r.db" explained.txt
ok "explain run:ID: says so" grep -q '^This explains a smaller run' explained.txt
rewake explain "$smallest" --db r.db >explained.txt
ok "explain of the smallest: nothing more is said" not_in explained.txt '^This explains'
sqlite3 r.db 'DELETE FROM shrunk'
same "show run:ID of one that was not shrunk: status" "$(status show "$found" --db r.db)" 0
ok "show run:ID of one that was not shrunk: nothing is offered" not_in out.txt 'It was shrunk'

done_testing
