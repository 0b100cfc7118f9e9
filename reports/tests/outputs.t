#!/bin/sh
# outputs.t -- all outputs of one command agree: exit status, summary, --json, JUnit, SARIF, GitHub,
# Markdown, pages; all name the same run. {first, second, elsewhere, fixed} x {--fail-fast or not} x
# {same, other seeds}.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
python=
for each in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $each -c 'import json, xml.etree.ElementTree' 2>/dev/null || python=$each
done
[ -n "$python" ] || {
    echo '1..0 # SKIP python3 is missing: scripts/setup --ci installs it'
    exit 0
}
for form in BROKEN ELSEWHERE FIXED FIRST; do
    build_library rare -D$form
    mv rare.so $form.so
done
# install FORM: what a user who edits and builds has afterwards.
install() {
    cp "$1.so" rare.so
}

# Seeds with which it fails, and some with which it passes.
install BROKEN
same=1-200
other=
for first in 1001 1011 1021 1031 1041 1051 1061 1071 1081 1091; do
    range=$first-$((first + 4))
    [ -n "$other" ] || [ "$(status run ./rare.so --seeds $range --record none)" != 0 ] ||
        other=$range
done
ok "there are seeds that pass" test -n "$other"

# collect FOLDER BEFORE ARGS...: runs it, from the state in BEFORE/db, and collects what is said of
# it. Twice, as text and as JSON: a run changes the database.
collect() {
    to=$1 before=$2
    shift 2
    mkdir -p "$to"
    [ ! -e "$before/db" ] || cp "$before/db" db
    rewake run ./rare.so "$@" --db db >"$to/text" 2>"$to/err"
    echo $? >"$to/text.status"
    rm -f db
    [ ! -e "$before/db" ] || cp "$before/db" db
    rewake run ./rare.so "$@" --db db --json --junit "$to/run.xml" >"$to/json" 2>>"$to/err"
    echo $? >"$to/json.status"
    for format in junit sarif github markdown; do
        rewake export $format --db db -o "$to/$format" 2>>"$to/err"
    done
    rewake report --db db -o "$to/pages" >/dev/null 2>"$to/report.err"
    mv db "$to/db"
    $python "$root/reports/tests/outputs.py" "$to" >"$to/said" 2>&1
}

# agree CLAIM FOLDER STATUS [WAY]: every output says so, and names the run that the command names.
agree() {
    same "$1: status" "$(cat "$2/text.status" "$2/json.status" | tr '\n' ' ')" "$3 $3 "
    runs=$(sed -n 's/^text fails.*runs failed: //p' "$2/said")
    wanted=holds
    run=$(sed -n 's/^failed: .*(\(run:[0-9]*\))$/\1/p' "$2/text")
    [ $# -lt 4 ] || wanted="fails: $4/$run; runs failed: $runs"
    sed "s/^\(text\|json\|run.xml\|junit\|sarif\|github\|markdown\|pages[^ ]*\) //" "$2/said" |
        sort -u >one.txt
    ok "$1: all say the same" sh -c "test \"\$(cat one.txt)\" = '$wanted' || {
        sed 's/^/# /' '$2/said'; false; }"
    ok "$1: nothing on stderr" test ! -s "$2/err"
}

for fast in '' --fail-fast; do
    name=all${fast#-}
    collect "$name" . --seeds $same $fast
    agree "$name, first" "$name" 1 rare/bug/invariant
    for seeds in same other; do
        eval "range=\$$seeds"
        at=$name.$seeds
        # shellcheck disable=SC2154 # It is one of the two above.
        collect "$at" "$name" --seeds "$range" $fast
        agree "$at, second" "$at" 1 rare/bug/invariant
        ok "$at, second: it is said what was remembered" \
            grep -q '^remembered: rare/bug: invariant still fails' "$at/text"
        ok "$at, second: by its first name" grep -q '"run":2,.*"remembered":true' "$at/json"

        install ELSEWHERE
        collect "$at.elsewhere" "$at" --seeds "$range" $fast
        agree "$at, elsewhere" "$at.elsewhere" 1 rare/bug/invariant
        ok "$at, elsewhere: it is said" grep -q 'fails in another way now' "$at.elsewhere/text"
        collect "$at.twice" "$at.elsewhere" --seeds "$range" $fast
        agree "$at, elsewhere twice" "$at.twice" 1 rare/bug/invariant
        ok "$at, elsewhere twice: it is remembered as it is now" \
            grep -q 'still fails' "$at.twice/text"

        install FIXED
        collect "$at.fixed" "$at" --seeds "$range" $fast
        agree "$at, fixed" "$at.fixed" 0
        ok "$at, fixed: it is said" grep -q 'no longer fails; forgotten' "$at.fixed/text"
        install BROKEN
    done
done

# ---- Without trying what is remembered, it is no failure of that command. ----
collect fresh all --seeds "$other" --fresh
agree "--fresh" fresh 0
collect fresh.same all --seeds $same --fresh
agree "--fresh, and it fails" fresh.same 1 rare/bug/invariant
ok "--fresh, and it fails: by a new name" not_in fresh.same/text '^failed: .*(run:2)$'
collect again fresh --seeds "$other"
agree "--fresh forgets nothing" again 1 rare/bug/invariant

# ---- The default schedule fails, and is remembered. ----
install FIRST
collect default . --seeds $same
agree "default schedule, first" default 1 rare/bug/invariant
ok "default schedule, first: its name" \
    grep -q '^failed: rare/bug: invariant in the default schedule (run:1)$' default/text
collect default.second default --seeds $same
agree "default schedule, second" default.second 1 rare/bug/invariant
ok "default schedule, second: the same run, and no seed" \
    grep -q '^failed: rare/bug: invariant (run:1)$' default.second/text
ok "default schedule, second: no seed is said to make it" \
    grep -q '"event":"failure".*"seed_is_enough":false.*"run":1,"remembered":true' \
    default.second/json
install BROKEN

# ---- What is known of a failure stays known. ----
rewake run zoo/tokio-4497/broken --runs 300 --db z.db >z1.txt
rewake run zoo/tokio-4497/broken --seeds 900-901 --fail-fast --db z.db >z2.txt
ok "the smallest run is not looked for again" grep -q '^Minimized when it was found: ' z2.txt
same "... and its command is the same" "$(grep '^replay: ' z2.txt)" "$(grep '^replay: ' z1.txt)"
rewake merge m.db all.other/db >/dev/null
same "merged with other databases it is a failure as well" \
    "$(rewake export github --db m.db | grep -c 'failed again')" 1
done_testing
