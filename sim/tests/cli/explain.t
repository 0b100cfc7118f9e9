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
unnotified() {
    sed '1d; /^It was shrunk/,/^$/d; /^replay: /,$d' "$1"
}
grep -v '^replay: \|^show: \|^found: ' first.txt >page.txt
ok "no line is wider than 100 columns" awk '{ wide += length($0) > 100 } END { exit wide }' page.txt
same "explain run:ID: status" "$(status explain "$(first_failure r.db)" --db r.db)" 1
same "run:ID has the explanation of its token" "$(unnotified out.txt)" "$(unnotified first.txt)"
same "the same failure has the same explanation" "$(status explain "$token"; cat out.txt)" \
    "$(echo 1; cat first.txt)"
rewake explain "$token" --json >e.json
ok "explain --json is JSON" every_line_is_json e.json
ok "explain --json: one object" test "$(wc -l <e.json)" -eq 1
token=$(sed -n 's/^replay: rewake replay //p' first.txt)
same "the run that is reported can be replayed: status" "$(status replay "$token")" 1
rewake run articles/s1/race-timeout --runs 1 --record all --fresh --db p.db >/dev/null
same "a run that passes: status" "$(status explain run:1 --db p.db)" 0
ok "a run that passes: says so" grep -q 'nothing to explain' out.txt
# What failed, and passes since the library was built again.
build_library fixed
rewake run ./fixed.so --runs 50 --fail-fast --fresh --json --no-shrink --db m.db >m.json
failing=$(token_of m.json)
build_library fixed -DFIXED
for command in explain replay; do
    same "$command of what was fixed: status" \
        "$(status $command ./fixed.so "$failing" --db m.db)" 0
    ok "... says that the library is another" grep -q '^The library has been built again' out.txt
    grep '^lenient: \|^search: ' out.txt | sed 's/.*: *rewake //' >next.txt
    same "... says what to do: two commands" "$(wc -l <next.txt)" 2
    # shellcheck disable=SC2046 # Commands.
    same "... which pass" "$(status $(head -n 1 next.txt); status $(tail -n 1 next.txt))" "0
0"
    same "... without the database: status" \
        "$(status $command ./fixed.so "$failing" --db nowhere.db)" 0
    ok "... says that it does not know" grep -q '^The database does not know' out.txt
done
ok "explain of what was fixed: says what it was" \
    sh -c "'$REWAKE' explain ./fixed.so '$failing' --db m.db | grep -q 'was found as: invariant'"
refused "no token" 2 explain hello
refused "a token of a scenario that is not here" 125 \
    explain rw1:a:1:aeaaaaaaaqbqeaiaaaaaaaaaaaadmxcuqi

# ---- What a reader would miss. ----
# tells BUG WORDS: what `explain` says of it has these words, wherever its lines end.
tells() {
    rewake run "zoo/$1/broken" --strategy random --runs 3000 --fail-fast --record none --json \
        --jobs 1 >run.json 2>/dev/null
    rewake explain "$(token_of run.json)" --time 100s 2>err.txt | tr '\n' ' ' >words.txt
    ok "zoo/$1 tells: $2" grep -qF "$2" words.txt
}
if [ $asan = no ]; then
    tells cpython-86296 '`operator` woke it too, in operator_poll()'
    # Whether its write or the one after it is the one that counts is up to the compiler.
    tells libevent-1530 'event_del() (libevent-1530.c:6'
    tells wstd-69 'It was being polled by poll_woken()'
    tells libuv-2382 'more steps like this'
    # The function around the condition lies in two parts of the program.
    tells invented-interest 'That follows from one condition, at step'
fi

# ---- What does not end by itself. ----
rewake run canary/hang --strategy random --runs 400 --hang 500ms --fail-fast --no-shrink --fresh \
    --db hang.db >hang.txt
same "explain of a hang: status" "$(status explain "$(first_failure hang.db)" --db hang.db)" 1
ok "... without a search" grep -q 'was not tried' out.txt
if [ $asan = no ]; then
    ok "... says in which function and line it spins" \
        grep -q 'The step spins in table_find_free() (hang.c:3[0-9])' out.txt
    tr '\n' ' ' <hang.txt >line.txt
    ok "run says where it is too" \
        grep -q 'has not returned after 500 ms of real time \(in\|at\) ' line.txt
fi
rewake run oracle/spins-on-the-clock/broken --strategy random --runs 20 --fail-fast --no-shrink \
    --fresh --json --db clock.db >clock.json
ok "a step that spins on the clock: time-limit" grep -q '"verdicts":{"time-limit":1}' clock.json
same "explain of it: status" "$(status explain "$(token_of clock.json)" --time 10s)" 1
if [ $asan = no ]; then
    tr '\n' ' ' <out.txt >line.txt
    ok "... says where it spins" \
        grep -q 'The step spins in run_timers() (spins_on_the_clock.c:' line.txt
fi
same "a budget that is too small: status" "$(status explain "$token" --time 1ms)" 1
ok "... says that it is incomplete" grep -q 'incomplete' out.txt
rewake explain "$token" --time 1ms --json >i.json
ok "... and so does --json" grep -q '"incomplete":true' i.json
ok "an explanation in time is complete" grep -q '"incomplete":false' e.json

# ---- The zoo. ----
known_misses='
'

# stated FILE: one alternative a line, "KIND FUNCTION" or "order FUNCTION FUNCTION".
stated() {
    sed -n 's/^ \* Cause: //p' "$1" | sed 's/ or /\n/g' | awk '
        /^order, / { print "order", $2, $4; next }
        / in / { kind = $1; print kind, $3; next }
        { print kind, $1 }'
}

# named FILE.json: the same of what explain says.
named() {
    sqlite3 :memory: "
        WITH e(j) AS (SELECT readfile('$1'))
        SELECT json_extract(j, '\$.cause.kind') || ' ' || json_extract(a.value, '\$.function')
          FROM e, json_each(j, '\$.cause.at') AS a
        UNION ALL SELECT 'order ' || json_extract(j, '\$.order.first.function') || ' ' ||
               json_extract(j, '\$.order.second.function') FROM e
         WHERE json_extract(j, '\$.order') IS NOT NULL"
}

agreed=0
all=0
# All of them take half a minute of a processor: those are for CI, and for ZOO='*'.
some='a*'
[ -z "${CI:-}" ] || some='*'
[ $asan = no ] || some='' # Its frames and redzones are not those of the program that ships.
for file in "$root"/scenarios/zoo/*.c; do
    bug=$(basename "$file" .c)
    # shellcheck disable=SC2254 # ZOO may be a pattern.
    case $bug in ${ZOO:-$some}) ;; *) continue ;; esac
    rewake run "zoo/$bug/broken" --strategy random --runs 3000 --fail-fast --record none --json \
        --jobs 1 >run.json 2>/dev/null
    # Steps bound it; a machine that does much else at the time must not.
    rewake explain "$(token_of run.json)" --time 100s --json >"$bug.json" 2>err.txt
    stated "$file" >stated.txt
    named "$bug.json" >named.txt
    all=$((all + 1))
    miss=$(echo "$known_misses" | sed -n "s/^$bug  //p")
    if grep -qxFf stated.txt named.txt; then
        agreed=$((agreed + 1))
        ok "$bug: agrees, and is no known miss" test -z "$miss"
    else
        ok "$bug: agrees with its Cause line, or is a known miss" test -n "$miss"
        [ -n "$miss" ] || sed 's/^/#   named: /' named.txt
    fi
done
echo "# $agreed of $all agree"

done_testing
