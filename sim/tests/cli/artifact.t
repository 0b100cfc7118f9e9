#!/bin/sh
# artifact.t -- a fuzzer's input as a file: replayed, as a token, made from one, and promoted.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# digest_of ARGS...: of a replay.
digest_of() {
    rewake replay "$@" --json 2>/dev/null | grep -o '"digest":"[^"]*"'
}

# ---- Tokens become files, and files tokens: always the same run. ----
for name in canary/lost-wakeup canary/crash canary/leak zoo/tokio-4497/broken \
    zoo/cpython-90155/broken \
    articles/s1/two-requests articles/s3/echo-server liveness/reset-duel/broken; do
    file=$(printf '%s' "$name" | tr / _)
    rewake run "$name" --strategy random --seeds 7-60 --fail-fast --record all --no-shrink --fresh \
        --db "$file.db" >/dev/null 2>&1
    run=run:$(sqlite3 "$file.db" 'SELECT max(run) FROM runs')
    rewake replay "$run" --db "$file.db" --artifact "$file" >/dev/null 2>&1
    same "$name: its run, by the file" "$(digest_of "$file")" "$(digest_of "$run" --db "$file.db")"
    token=$(rewake replay "$file" --json 2>/dev/null | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
    same "$name: by the token of the file" "$(digest_of "$token")" "$(digest_of "$file")"
    rewake replay "$token" --artifact "$file.again" >/dev/null 2>&1
    ok "$name: the file of that token is the file" cmp "$file" "$file.again"
done

same "a file that fails: status" "$(status replay canary_lost-wakeup)" 1
ok "a file that fails: it is said" grep -q '^canary/lost-wakeup: it fails, lost-wakeup' out.txt
ok "a file is printed as a token" grep -q '^as a token: rw1:canary/lost-wakeup:0:' out.txt
same "show of a file: status" "$(status show canary_lost-wakeup)" 0
printf 'canary/lost-wakeup\n' >default
same "a line alone is the baseline run: status" "$(status replay default)" 0
ok "the baseline run passes" grep -q '^canary/lost-wakeup: it passes' out.txt
printf 'kernel/reorder-3/broken -D setters=7 -O step_ns=50\n' >default
ok "parameters and options" sh -c "'$REWAKE' replay default >default.txt"
printf 'kernel/reorder-3/broken -D setters=7 -O step_ns=50\n' >dull2
rewake replay "$(sed -n 's/^as a token: //p' default.txt)" --artifact dull3 >/dev/null
ok "parameters and options come back" cmp dull2 dull3
head -c 300 /dev/urandom >noise
{ printf 'canary/lost-wakeup\n' && cat noise; } >any
status replay any >any.txt
ok "any bytes are a run" grep -q '^[01]$' any.txt

# ---- Files that are none. ----
refused "an empty file" 2 replay /dev/null
refused "noise" 2 replay noise
printf 'no line end' >odd
refused "no line end" 2 replay odd
printf 'canary/lost-wakeup -x 1\n' >odd
refused "a line with something else" 2 replay odd
printf 'canary/lost-wakeup -D\n' >odd
refused "a line that ends too soon" 2 replay odd
printf 'no/such\n' >odd
refused "of a scenario that is not here" 125 replay odd
printf 'canary/lost-wakeup -D tasks=3\n' >odd
refused "of a parameter that is not here" 125 replay odd
printf 'canary/lost-wakeup -O step_ns=-1\n' >odd
refused "of a value that cannot be" 125 replay odd
head -c 2000000 /dev/zero >odd
refused "too large" 2 replay odd
refused "a folder" 2 replay .
refused "a file that is there is not written over" 2 replay default --artifact canary_leak
refused "a place that is not there" 70 replay default --artifact no/such/place

# ---- A run is kept as a scenario. ----
build_library fixed
library=./fixed.so
token=$(rewake run $library --runs 300 --fresh --json --record none | sed -n \
    's/.*"event":"failure".*"token":"\([^"]*\)".*/\1/p' | head -n 1)
same "promote: status" "$(status promote $library "$token" --name sum)" 0
ok "promote: the file is named" grep -q '^regress/sum.c: written, the scenario regress/sum ' out.txt
cp regress/sum.c sum.c
refused "promote: nothing is written over" 2 promote $library "$token" --name sum
ok "promote: the file is as it was" cmp regress/sum.c sum.c
refused "promote: a name with a slash" 2 promote $library "$token" --name a/b
refused "promote: a token that is cut" 2 promote $library "${token%?}"
refused "promote: of a scenario that is not here" 125 promote "$token"
refused "promote: a folder that cannot be" 70 promote $library "$token" -o no/such
same "promote of a file that stopped a fuzzer: status" \
    "$(status promote canary_lost-wakeup --name box --json)" 0
ok "promote --json is JSON" every_line_is_json out.txt
build_library fixed regress/sum.c
refused "promote: a name that is a scenario" 2 promote $library "$token" --name sum -o elsewhere
same "regress/*: it fails while the bug is there: status" \
    "$(status run $library 'regress/*' --fresh --record none)" 1
ok "regress/*: it is one run" grep -q '^1 run: 0 passed, 1 failed' out.txt
build_library fixed '-DFIXED regress/sum.c'
same "regress/*: it passes when it is fixed: status" \
    "$(status run $library 'regress/*' --fresh --record none --check-determinism 100)" 0
build_library fixed '-DELSEWHERE regress/sum.c'
same "regress/*: it fails elsewhere: status" \
    "$(status run $library 'regress/*' --fresh --record none)" 1
sed 's|"mine/fixed"|"mine/gone"|' sum.c >regress/sum.c
build_library fixed regress/sum.c
refused "a regression of what is gone" 2 list $library
mkdir scenarios
same "in a tree: status" "$(status promote canary_lost-wakeup)" 0
tree=scenarios/regress/canary-lost-wakeup.c
ok "in a tree: it has its place, and a licence" grep -q 'SPDX-License' $tree
if command -v clang-format-14 >/dev/null; then
    ok "in a tree: it has its form" \
        clang-format-14 --dry-run -Werror --style="file:$root/.clang-format" $tree
fi

done_testing
