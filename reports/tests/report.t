#!/bin/sh
# report.t -- `rewake report`: what it writes, what it keeps, what it refuses. browser.t opens it.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# no_markup FILE: nothing that came from a scenario is an element or an attribute, and all of it is
# UTF-8; nothing is loaded from elsewhere.
no_markup() {
    [ "$(grep -c '<script' "$1")" -eq 1 ] && ! grep -q '<img\|<[^>]* on[a-z]*=' "$1" &&
        iconv -f UTF-8 -t UTF-8 "$1" >/dev/null &&
        ! grep -v 'http://www.w3.org/2000/svg' "$1" | grep -q 'https\?://\|url(\|@import'
}
# anchors FILE: each link within the page has an end, and no anchor is there twice.
anchors() {
    grep -o ' id="[^"]*"' "$1" | sort | cut -d '"' -f 2 >ids.txt
    grep -o 'href="#[^"]*"' "$1" | sed 's/href="#//; s/"//' | sort -u >links.txt
    [ -z "$(uniq -d ids.txt)" ] && [ -z "$(comm -23 links.txt ids.txt)" ]
}
# The page without what differs from build to build, and without sentences, which others test.
stable() {
    sed -n '/<main/,/<\/main>/p' "$1" | sed 's/<dt>Build.*<\/dd>/<dt>Build/
        s/^<style>.*<\/style>$/<style\/>/; s/rw1:[^ <]*/TOKEN/g; s/^<p\([^>]*\)>.*/<p\1>/'
}

# ---- One failure. The database keeps the explanation, and its counts. ----
ln -s "$root/scenarios" scenarios
rewake run zoo/tokio-4497/broken --runs 50 --json --fresh --db a.db >/dev/null 2>&1
run=$(first_failure a.db)
counts='SELECT count(*) FROM runs UNION ALL SELECT count(*) FROM failures
    UNION ALL SELECT count(*) FROM lost_wakeups UNION ALL SELECT sum(runs) FROM sweeps
    UNION ALL SELECT count(*) FROM coverage_growth'
before=$(sqlite3 a.db "$counts")
same "report: status" "$(status report --db a.db -o out)" 0
same "report: says where" "$(cat out.txt)" out/index.html
ok "report: says what it explains" grep -q "explaining $run of zoo/tokio-4497/broken (1 of 1)" \
    err.txt
same "runs of an explanation are not counted" "$(sqlite3 a.db "$counts")" "$before"
page=out/failure-${run#run:}.html
ok "a page of the failure" test -s "$page"
ok "the index leads to it" grep -q "href=\"failure-${run#run:}.html\"" out/index.html
ok "it is text only" no_markup "$page"
ok "its anchors are whole" anchors "$page"
ok "the wake that is missing is named" grep -q 'here server should have been woken' "$page"
ok "the passing run is beside it" grep -q '<svg class="lanes" id="passing"' "$page"
ok "what decides is marked" grep -q \
    '>decided before the first step: the scenario draws the number [0-9]*<' "$page"
ok "and the decision of the passing run" grep -q \
    'decided before the first step: the scenario draws the number 0<' "$page"
ok "where the two runs diverge as well" grep -q '>the two runs diverge here<' "$page"
ok "lines of source" grep -q '<mark>.*rt_slot_replace' "$page"
cp "$page" first.html
same "again: status" "$(status report --db a.db -o out "$run")" 0
ok "again: nothing is left to explain" test ! -s err.txt
ok "again: the same page" cmp "$page" first.html
same "the explanation, asked by SQL" \
    "$(rewake query "SELECT cause, at FROM explanations" --db a.db | tail -n 1 | tr -s ' ')" \
    "never-stored scenarios/zoo/tokio-4497.c:60"
same "the smaller run in the views" \
    "$(sqlite3 a.db "SELECT count(*) > 0 FROM trace WHERE run = (SELECT failing FROM explained)")" 1
same "the facts of an explanation are in the database as in \`explain --json\`" \
    "$(sqlite3 a.db "SELECT findings FROM explained" | jq -c .findings)" \
    "$(rewake explain "$run" --db a.db --json | jq -c .findings)"
rewake explain "$run" --db a.db >/dev/null
same "explained again: nothing is there twice" \
    "$(sqlite3 a.db 'SELECT count(*) FROM explained UNION ALL SELECT count(*) FROM explained_runs')" "1
2"

# ---- As it stands. What an optimised or instrumented build explains may name other callers. ----
golden=$root/reports/tests/golden/failure.html
[ "$asan" = yes ] || {
    stable "$page" >stable.html
    [ "${GOLDEN:-}" != new ] || cp stable.html "$golden"
    ok "golden page" diff -u "$golden" stable.html
}
ok "the picture by itself" "$root/scripts/report-picture" "$page"
cp .said picture.svg 2>/dev/null || "$root/scripts/report-picture" "$page" >picture.svg
ok "the picture is one element" \
    test "$(grep -c '<svg' picture.svg)$(tail -n 1 picture.svg)" = "1</svg>"

# ---- A decision within the run, a dropped wake, pictures higher than paper. ----
rewake run zoo/monoio-147/broken --runs 50 --fail-fast --json --fresh --db b.db >/dev/null 2>&1
same "another: status" "$(status report --db b.db -o b)" 0
page=$(ls b/failure-*.html)
ok "decided where the runs diverge: one mark" grep -q \
    '>decided here: [0-9]* bytes\? [a-z]* moved for upload; the two runs diverge<' "$page"
ok "the foot of a lane says whose wake was dropped" grep -q '>woken at step [0-9]*,' "$page"
ok "so does the table of waiting tasks" grep -q 'was woken in step .*and not polled since' "$page"
ok "for paper: its anchors are whole" anchors "$page"

# ---- Of a program: where this build runs any. ----
case $REWAKE in */release-* | */debug-*) programs=yes ;; *) programs= ;; esac
if [ -n "$programs" ]; then

# ---- Lines of source are those of the run, whatever became of the file. ----
cp "$root/sim/tests/cli/lib/unseen/d2_deadline.c" edited.c
cc -g -O1 -pthread edited.c -o edited
rewake run ./edited --runs 200 --jobs 1 --fail-fast --json --fresh --db e.db >/dev/null 2>&1
rewake report --db e.db -o e1 >/dev/null 2>&1
ok "a line as it was" grep -q '<mark>.*atomic_load(&amp;l-&gt;notify_me)' e1/failure-*.html
ok "the line of a step" grep -q '<td><code>eventfd_read(' e1/failure-*.html
sed -i '1,40s|^|/* moved */ |' edited.c
rewake report --db e.db -o e2 >/dev/null
ok "an edited file: the same page" cmp e1/failure-*.html e2/failure-*.html
rm edited.c
rewake report --db e.db -o e3 >/dev/null
ok "a file that is gone: the same page" cmp e1/failure-*.html e3/failure-*.html
sleep 1.1
cp "$root/sim/tests/cli/lib/unseen/d2_deadline.c" edited.c
rewake run ./edited --runs 200 --jobs 1 --fail-fast --json --fresh --db f.db >/dev/null 2>&1
rewake report --db f.db -o f >/dev/null 2>&1
same "a file that is newer than its program: no line of it is stored" \
    "$(sqlite3 f.db "SELECT count(*) FROM explained_lines WHERE file LIKE '%edited.c'")" 0
ok "... which is said" grep -q 'has changed since' f/failure-*.html

# ---- Lines of source lead where REWAKE_LINK says. ----
git init -q repository
cd repository || exit 1
cp ../edited.c .
cc -g -O1 -pthread edited.c -o edited
rewake run ./edited --runs 200 --jobs 1 --fail-fast --json --fresh --db r.db >/dev/null 2>&1
REWAKE_LINK='https://forge/{file}"#L{line}' rewake report --db r.db -o forge >/dev/null 2>&1
ok "a forge" grep -q '<a href="https://forge/edited.c&quot;#L91"><code>' forge/failure-*.html
ok "... from the index as well" grep -q '<a href="https://forge/edited.c&quot;#L' forge/index.html
REWAKE_LINK='vscode://file{path}:{line}' rewake report --db r.db -o editor >/dev/null
ok "an editor" grep -q "<a href=\"vscode://file$PWD/edited.c:91\"><code>" editor/failure-*.html
CLICOLOR_FORCE=1 rewake explain run:"$(ls forge/failure-* | tr -dc 0-9)" --db r.db >colour.txt
ok "in a terminal: the file" grep -q "]8;;file://$PWD/edited.c" colour.txt
rm edited.c
REWAKE_LINK='vscode://file{path}:{line}' rewake report --db r.db -o gone >/dev/null
not_ok "an editor: a file that is gone has no link" grep -q 'vscode://' gone/failure-*.html
cd ..
ok "without it: none" sh -c '! grep -q "<a href=.[^#>]*edited.c" f/failure-*.html'
fi

# ---- A hang is explained as well, last. ----
rewake run canary/hang --runs 300 --fail-fast --json --fresh --hang 100ms --db h.db >/dev/null 2>&1
same "a hang: status" "$(status report --hang 100ms --db h.db -o h)" 0
ok "a hang: explained" \
    grep -qiE 'the step spins in table_find_free\(\) \((<[^>]*>)*hang.c:3[2-5]<' h/failure-*.html

# ---- Names with markup; a library; a library that is missing. ----
cp "$root/reports/tests/lib/markup.c" markup.c
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" markup.c \
    -o markup.so
rewake run ./markup.so --runs 50 --json --fresh --db m.db >/dev/null 2>&1
run=$(first_failure m.db)
same "markup: status" "$(status report --db m.db -o m)" 0
ok "markup: it is text only" no_markup "m/failure-${run#run:}.html"
ok "markup: the index too" no_markup m/index.html
ok "markup: the passing run is there" grep -q 'id="passing"' "m/failure-${run#run:}.html"
ok "markup: as it was written" grep -q '&lt;script&gt;document.title' "m/failure-${run#run:}.html"
sqlite3 m.db 'DELETE FROM explained; DELETE FROM explained_places; DELETE FROM explained_runs'
mv markup.so elsewhere.so
same "a library that is gone: status" "$(status report --db m.db -o m2)" 0
ok "a library that is gone: says so" grep -q 'markup.so' err.txt
ok "a library that is gone: as it was found" grep -q 'has no explanation yet' \
    "m2/failure-${run#run:}.html"
ok "a library that is gone: still the steps" grep -q 'id="step-1"' "m2/failure-${run#run:}.html"

# ---- What is left of a damaged explanation. ----
cp a.db damaged.db
sqlite3 damaged.db "DELETE FROM explained_runs WHERE shown % 2; UPDATE explained
    SET answer = '<b>', why = '', refs = 'x';
    UPDATE explained_places SET file = '/etc/passwd', line = 1, step = -1"
same "without its passing run: status" "$(status report --db damaged.db -o d)" 0
not_ok "what is no source is not read" grep -q 'root:' d/failure-*.html
sqlite3 damaged.db 'DELETE FROM explained_runs; DELETE FROM event_words'
same "without its runs: status" "$(status report --db damaged.db -o d)" 0
ok "without its runs: it is text only" no_markup "$(ls d/failure-*.html)"

# ---- Long runs stay small. ----
rewake run canary/livelock --runs 1 --json --fresh --db l.db >/dev/null 2>&1
same "10,000 steps: status" "$(status report --db l.db -o l)" 0
ok "10,000 steps: under 1 MB" test "$(cat l/failure-*.html | wc -c)" -lt 1000000
ok "10,000 steps: says what is left out" grep -q 'steps) are left out' l/failure-*.html
ok "10,000 steps: its anchors are whole" anchors "$(ls l/failure-*.html)"

# ---- Refusals. ----
refused "no database" 70 report --db nowhere.db -o x
ok "no database: none is made" test ! -e nowhere.db
refused "no run" 2 report hello --db a.db -o x
refused "a run that is not there" 2 report run:99999 --db a.db -o x
touch file
refused "a folder that is a file" 70 report --db a.db -o file
mkdir site
echo '<p>mine' >site/index.html
refused "an index of another program" 70 report --db a.db -o site
same "... stays" "$(ls site) $(cat site/index.html)" 'index.html <p>mine'
same "an index of rewake is written again" "$(status report --db l.db -o l)" 0
rewake run articles/s1/two-requests --runs 1 --fresh --db p.db >/dev/null 2>&1
same "nothing failed: status" "$(status report --db p.db -o p)" 0
ok "nothing failed: says so" test -s p/index.html
done_testing
