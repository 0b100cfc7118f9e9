#!/bin/sh
# explain.t -- what `explain` says of each bug of the zoo, held against what its file states.
#
# A file of the zoo says `Cause: KIND in FUNCTION or FUNCTION or KIND in FUNCTION or order, A before
# B`. It agrees when the kind is that of the explanation and the function is the place that it
# names, or one that called it; or when the two events are those, in this order. What does not
# agree is listed here with its reason; the list may only become shorter.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- The command. ----
rewake run canary/lost-wakeup --runs 300 --fresh --json --db r.db >r.json
token=$(token_of r.json)
same "explain: status" "$(status explain "$token")" 1
cp out.txt first.txt
grep -v '^replay: \|^show: ' first.txt >page.txt
ok "no line is wider than 100 columns" awk '{ wide += length($0) > 100 } END { exit wide }' page.txt
same "explain run:ID: status" "$(status explain "$(told r.db)" --db r.db)" 1
same "the same failure has the same explanation" "$(status explain "$token"; cat out.txt)" \
    "$(echo 1; cat first.txt)"
rewake explain "$token" --json >e.json
ok "explain --json is JSON" every_line_is_json e.json
ok "explain --json: one object" test "$(wc -l <e.json)" -eq 1
told=$(sed -n 's/^replay: rewake replay //p' first.txt)
same "the run that is told can be replayed: status" "$(status replay "$told")" 1
rewake run seeds/s1/race-timeout --runs 1 --record all --fresh --db p.db >/dev/null
same "a run that passes: status" "$(status explain run:1 --db p.db)" 0
ok "a run that passes: says so" grep -q 'nothing to explain' out.txt
refused "no token" 2 explain hello
refused "a token of a scenario that is not here" 125 \
    explain rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi

done_testing
