#!/bin/sh
# export.t -- what a sweep found, for other programs, and what `rewake export` refuses.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
command -v xmllint >/dev/null && command -v jq >/dev/null || {
    echo '1..0 # SKIP xmllint or jq is missing: scripts/setup --ci installs them'
    exit 0
}

# A library whose file lies outside of the tree, and whose words have to be escaped.
cp "$root/reports/tests/lib/odd_words.c" words.c
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" \
    "$tmp/words.c" -o words.so

is_junit() {
    xmllint --noout --schema "$root/reports/tests/junit.xsd" "$1"
}
path() {
    xmllint --xpath "$1" "$2" 2>&1
}

# ---- JUnit: of the sweeps of one command. ----
# --no-shrink: what is exported of a failure that is not explained.
rewake run canary/lost-wakeup canary/leak articles/s1/two-requests --runs 50 --no-shrink \
    --junit j.xml --db j.db >/dev/null
same "run --junit does not change the status" "$?" 1
ok "run --junit: valid" is_junit j.xml
same "one case a scenario" "$(path 'count(//testcase)' j.xml)" 3
same "two failed" "$(path 'string(/testsuites/@failures)' j.xml)" 2
same "those two" "$(path '//testcase[failure]/@name' j.xml | tr -d '\n')" \
    ' name="canary/leak" name="canary/lost-wakeup"'
same "a class for a folder" "$(path 'string(//testcase[1]/@classname)' j.xml)" rewake.articles.s1
same "the verdict is the type" "$(path 'string(//testcase[3]/failure/@type)' j.xml)" lost-wakeup
path 'string(//testcase[3]/failure)' j.xml >failure.txt
ok "where" grep -q '^at scenarios/canary/lost_wakeup.c:[0-9]* consumer_poll$' failure.txt
path 'string(//testcase[3]/system-out)' j.xml >words.txt
ok "how it happened" \
    grep -q "^step [0-9]*: 'consumer' stores its waker in .* (scenarios/canary/lost_wakeup.c:" \
    words.txt
ok "how often" grep -q '^[0-9]* of 50 runs failed this way; this is run:[0-9]*\.$' failure.txt
replay=$(sed -n 's/^rewake \(replay rw1:[^ ]* --db j.db\)$/\1/p' failure.txt)
# shellcheck disable=SC2086 # A command.
same "the command replays it" "$(status $replay)" 1
ok "... with the same failure" grep -q 'same failure, lost-wakeup' out.txt
same "without failures: status" \
    "$(status run articles/s1/two-requests --runs 5 --junit h.xml --db h.db)" 0
ok "without failures: valid" is_junit h.xml
same "without failures: none" "$(path 'string(/testsuites/@failures)' h.xml)" 0

# Remembered failures are tried first, and count.
rewake run canary/lost-wakeup --seeds 1-1 --junit r.xml --db j.db >/dev/null
same "a remembered failure is one" "$(path 'string(/testsuites/@failures)' r.xml)" 1
ok "... and it is said" grep -q 'It was remembered from an earlier run and failed again' r.xml
cp j.db fresh.db
rewake run canary/lost-wakeup --seeds 1-1 --fresh --junit r.xml --db fresh.db >/dev/null
same "--fresh does not try it" "$(path 'string(/testsuites/@failures)' r.xml)" 0
same "... and what is exported later says the same" \
    "$(rewake export junit canary/lost-wakeup --db fresh.db)" "$(cat r.xml)"

# ---- What else makes a sweep fail, or keeps it from it. ----
same "--expect: status" \
    "$(status run canary/lost-wakeup --runs 50 --expect --junit x.xml --db x.db)" 0
same "--expect: an expected verdict is no failure" "$(path 'string(/testsuites/@failures)' x.xml)" 0
ok "--expect: it is said" grep -q 'failed by lost-wakeup, as expected$' x.xml
same "--expect: later, from the database" "$(rewake export junit --db x.db)" "$(cat x.xml)"
rewake run canary/lost-wakeup --seeds 1-1 --strategy baseline --expect --fresh --junit x.xml \
    --db y.db >/dev/null
same "--expect: otherwise is one" "$(path 'string(//failure/@message)' x.xml)" \
    'it expects lost-wakeup, and no run ended so'
rewake run canary/diverged --runs 4 --check-determinism 100 --junit d.xml --db d.db >/dev/null
same "a replica run that differs is one" "$(path 'string(//failure/@type)' d.xml)" diverged
sqlite3 x.db "UPDATE sweep_notes SET ended = 'interrupted', held = 0; DELETE FROM remembered;
    DELETE FROM shrunk; DELETE FROM details; DELETE FROM runs; DELETE FROM sweep_verdicts"
rewake export junit --db x.db >i.xml
cp x.db i.db
ok "interrupted: valid" is_junit i.xml
same "interrupted: an error" "$(path 'string(//error/@message)' i.xml)" \
    'cut short (interrupted) after 50 runs, none of which failed'
sqlite3 x.db 'DROP TABLE sweep_notes'
rewake export junit --db x.db >old.xml
ok "a database of an older rewake: valid" is_junit old.xml

# ---- Where a failure has been explained: in `report`. ----
rewake report --time 600s --db j.db -o pages >/dev/null 2>&1
rewake export junit --db j.db canary/lost-wakeup >e.xml
ok "explained: valid" is_junit e.xml
ok "explained: the answer is in the failure" grep -q '^The wake comes too early' e.xml
ok "explained: all of it is in system-out" grep -q '^It fails ' e.xml
for format in sarif github markdown; do
    rewake export $format --db j.db canary/lost-wakeup -o e.txt
    ok "explained: $format" grep -q 'The wake comes too early' e.txt
done

same "explained: the sentence, in SARIF" "$(rewake export sarif --db j.db canary/lost-wakeup |
    jq -r '.runs[0].results[0].message.text' | grep -c "'consumer' is blocked forever")" 1

# ---- A blocked task that no waker is stored for any more; a failure without a line. ----
rewake run foreign/executor/broken --fail-fast --fresh --no-shrink --db f.db >/dev/null
rewake run canary/livelock --runs 1 --fresh --no-shrink --db l.db >/dev/null
line=$(grep -n ' sim_foreign_store((who), (event), (what)))\|event_wait(&program->done' \
    "$root/scenarios/foreign/executor.c" | tail -n 1 | cut -d: -f1)
for explained in no yes; do
    for format in junit sarif github markdown; do
        rewake export $format --db f.db -o f.$format
        ok "foreign, explained: $explained, $format: what it waits for" \
            grep -q "'job' is blocked forever.*the result" f.$format
        ok "foreign, explained: $explained, $format: nothing is without a name" \
            test -z "$(grep 'did not name' f.$format)"
    done
    same "foreign, explained: $explained: the line" "$(jq -r '.runs[0].results[0] |
        (.locations[0].physicalLocation.region.startLine | tostring) + " " +
        .partialFingerprints["rewakeWayToFail/v1"]' f.sarif)" \
"$line foreign/executor/broken:lost-wakeup:rewake:scenarios/foreign/executor.c:job_poll"
    ok "foreign, explained: $explained: GitHub's line" \
        grep -q "executor.c,line=$line,title" f.github
    rewake report --time 600s --db f.db -o pages-f >/dev/null 2>&1
done
ok "explained: the wake was sent" grep -q 'was woken at step .*never polled after that' f.junit
ok "explained: names in quotes" grep -q "^The wake of 'job' is sent" f.junit
for question in failures causes; do
    ok "foreign: $question" \
        test -n "$(rewake query $question --db f.db | grep "executor.c:$line job_poll")"
done
ok "foreign: the index" grep -q "executor.c:$line</code>" pages-f/index.html
same "without a line: SARIF" "$(rewake export sarif --db l.db | jq -c \
    '.runs[0].results[0].locations[0].physicalLocation | [.artifactLocation.uri, has("region")]')" \
    '["scenarios/canary/livelock.c",false]'
ok "without a line: GitHub" \
    test -n "$(rewake export github --db l.db | grep '^::error file=[^,]*livelock.c,title=')"

# ---- Odd characters, and a file outside of the tree. ----
rewake run ./words.so --runs 50 --junit odd.xml --db odd.db >/dev/null
ok "odd characters: valid" is_junit odd.xml
path 'string(//testcase[@name="odd/words"]/failure/@message)' odd.xml >message.txt
ok "odd characters: as they are" grep -q "<b>&\"'100%0A,::\]\]>" message.txt
path 'string(//testcase[@name="odd/words"]/failure)' odd.xml >failure.txt
ok "a file in the working directory by its name there" grep -q "^at words.c:[0-9]* " failure.txt
mkdir elsewhere
(cd elsewhere && rewake export junit --db ../odd.db) >elsewhere.xml
path 'string(//testcase[@name="odd/words"]/failure)' elsewhere.xml >failure.txt
ok "a file outside of the tree by its whole name" \
    grep -q "^at $(pwd -P)/words.c:[0-9]* " failure.txt
ok "the library is part of the command" grep -q '^rewake replay ./words.so rw1:' failure.txt

# ---- SARIF: what its schema asks of what we write. ----
rewake export sarif --db j.db >j.sarif
sarif() {
    jq -e "$1" "$2"
}
is_sarif() {
    jq -e '.version == "2.1.0" and (.runs | length == 1) and (.runs[0] |
        (keys - ["invocations", "originalUriBaseIds", "results", "tool"] == []) and
        (.tool.driver | (.name | type == "string") and
            (.rules | map(.id) | length == (unique | length))) and
        (.invocations | all(.executionSuccessful | type == "boolean")) and
        . as $run | (.results | all(
            (keys - ["codeFlows", "level", "locations", "message", "occurrenceCount",
                "partialFingerprints", "properties", "ruleId", "ruleIndex"] == []) and
            (.message.text | type == "string") and (.level == "error") and
            (.ruleId == $run.tool.driver.rules[.ruleIndex].id) and
            (.occurrenceCount == null or .occurrenceCount >= 1) and
            (.partialFingerprints | all(type == "string")) and
            ([.locations[], (.codeFlows // [])[].threadFlows[].locations[].location] | all(
                (.physicalLocation | has("region") | not) or
                    (.physicalLocation.region.startLine >= 1)) and all(
                (.physicalLocation.artifactLocation.uri |
                    test("^[A-Za-z0-9._~%/!$&()*+,;=@:-]+$")))))) and
        ([.results[].locations[].physicalLocation.artifactLocation] | all(
            (.uriBaseId == null) == (.uri | startswith("file:///")))))' "$1"
}
ok "export sarif: as its schema has it" is_sarif j.sarif
same "export sarif: a result for each way to fail" "$(jq '.runs[0].results | length' j.sarif)" \
    "$(rewake export junit --db j.db | grep -c '^rewake replay')"
ok "export sarif: a rule leads to the section of its verdict" sarif '.runs[0].tool.driver.rules |
    length > 0 and all((.id | split("/")[0]) as $verdict |
        ([.help.text, .helpUri // .help.text] | all(endswith("/verdicts.md#" + $verdict))))' j.sarif
ok "export sarif: the line" sarif '.runs[0].results[] | select(.ruleId == "lost-wakeup/rewake") |
    .locations[0].physicalLocation | .artifactLocation.uri == "scenarios/canary/lost_wakeup.c" and
    .artifactLocation.uriBaseId == "SRCROOT" and .region.startLine > 40' j.sarif
ok "export sarif: from the wake of an empty slot to the stored waker" sarif '[.runs[0].results[] |
    select(.ruleId == "lost-wakeup/rewake") | .codeFlows[0].threadFlows[0].locations[].location |
    .message.text] | (.[0] | test("has no waker")) and (.[1] | test("stores its waker"))' \
    j.sarif
rewake export sarif --db h.db >h.sarif
ok "export sarif, no failures: valid" is_sarif h.sarif
ok "export sarif, no failures: none" sarif '.runs[0].results == []' h.sarif
(cd elsewhere && rewake export sarif --db ../odd.db) >odd.sarif
ok "export sarif, odd characters: valid" is_sarif odd.sarif
ok "export sarif, a file outside of the tree" sarif \
    "[.runs[0].results[].locations[0].physicalLocation.artifactLocation.uri] |
        any(. == \"file://$tmp/words.c\")" odd.sarif
rewake export sarif --db i.db >i.sarif
ok "export sarif, interrupted: valid" is_sarif i.sarif
ok "export sarif, interrupted: said" sarif '.runs[0].invocations[0].executionSuccessful | not' \
    i.sarif

# ---- GitHub: annotations as it documents them, and a summary. ----
rewake export github --db j.db >j.txt
ok "export github: a line" grep -q '^::error file=scenarios/canary/lost_wakeup.c,line=[0-9]*,'\
'title=lost-wakeup in canary/lost-wakeup::.consumer. is blocked.*%0Arewake replay rw1:' j.txt
same "export github: nothing else" "$(grep -vc '^::error ' j.txt)" 0
(cd elsewhere && rewake export github 'odd/words' --db ../odd.db) >odd.txt
same "export github: odd characters stay in their line" "$(wc -l <odd.txt)" 1
ok "export github: UTF-8" iconv -f UTF-8 -t UTF-8 odd.txt
ok "export github: percent signs" grep -q '100%250A,::\]\]>' odd.txt
ok "export github: a file outside of the tree is in the message" \
    grep -q "^::error title=[a-z-]* in odd/words::.*%0A$tmp/words.c:" odd.txt
same "export github: nothing failed, nothing said" "$(rewake export github --db h.db)" ''
cp j.db p.db
sqlite3 p.db "UPDATE sites SET file = 'src/a,b:c%.c' WHERE file LIKE '%/lost_wakeup.c'"
rewake export github --db p.db canary/lost-wakeup >p.txt
ok "export github: in a property also : and ," \
    grep -q '^::error file=src/a%2Cb%3Ac%25.c,line=' p.txt
rewake export markdown --db j.db >j.md
ok "export markdown: the sentence" \
    grep -q '^3 scenarios, [0-9]* runs: [12] passed, [12] failed\.$' j.md
ok "export markdown: a row" grep -q '^| canary/leak | \*\*failed\*\* | 51 | ' j.md
grep -A 1 '^```sh$' j.md >commands.txt
ok "export markdown: a command in a block" grep -q '^rewake explain rw1:canary/leak:' commands.txt
rewake export markdown --db odd.db >odd.md
ok "export markdown: UTF-8" iconv -f UTF-8 -t UTF-8 odd.md
ok "export markdown: odd characters are no markup" grep -q '\\<b\\>\\&' odd.md
echo before >sum.md
GITHUB_STEP_SUMMARY=sum.md rewake export markdown --db h.db >out.txt
ok "export markdown: goes to the summary" \
    grep -q '^1 scenario, 5 runs: 1 passed, 0 failed\.$' sum.md
same "... at its end" "$(head -n 1 sum.md)" before
ok "... and nowhere else" test ! -s out.txt
GITHUB_STEP_SUMMARY=sum.md rewake export markdown --db h.db -o own.md
same "-o wins" "$(grep -c '^1 scenario' sum.md)" 1
ok "-o wins: the file" grep -q '^1 scenario, ' own.md

# ---- rewake export. ----
same "export: status" "$(status export --db j.db)" 0
ok "export: lists its formats" grep -q '^junit  *\[PATTERN\] ' out.txt
ok "export: nothing is wider than 100 columns" test -z "$(grep '^.\{101\}' out.txt)"
same "export junit: status" "$(status export junit --db odd.db)" 0
same "export junit: the same" "$(cat out.txt)" "$(cat odd.xml)"
same "export junit PATTERN -o FILE: status" "$(status export junit 'articles/*' --db j.db -o \
    s.xml)" 0
same "export junit PATTERN -o FILE: only those" "$(path 'count(//testcase)' s.xml)" 1
same "export junit: the newest sweep" "$(rewake export junit --db j.db 'canary/lost*' |
    grep -c '>1 run by')" 1
refused "no such format" 2 export punchcard --db j.db
refused "no sweep of it" 4 export junit 'absent/*' --db j.db
refused "no database" 70 export junit --db nowhere.db
refused "nowhere to write to" 70 export junit --db j.db -o nowhere/j.xml
rewake run canary/livelock --runs 1 --fresh --db long.db >/dev/null 2>&1
echo before >full.json
same "no room for it: status" "$(
    trap '' XFSZ
    ulimit -f 80 # As on a disk that is full.
    status export chrome run:1 --db long.db -o full.json
)" 70
ok "no room for it: says so" grep -q 'full.json.new could not be written' err.txt
same "no room for it: what was there stays" "$(cat full.json*)" before
ok "with room it is replaced" sh -c "'$REWAKE' export chrome run:1 --db long.db -o full.json &&
    ! grep -q '^before' full.json && test ! -e full.json.new"
same "run --junit --record none: status" \
    "$(status run 'articles/*' --runs 1 --junit n.xml --record none)" 2
ok "run --junit --record none: says why" grep -q -e '--junit reads the database' err.txt
same "run --junit nowhere: status" \
    "$(status run 'articles/*' --runs 1 --junit nowhere/n.xml --db n.db)" 70
done_testing
