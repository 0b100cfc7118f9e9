#!/bin/sh
# facts.t -- names and reasons that read like what rewake prints are only names and reasons; nothing
# is left out of a long list, and nothing is cut inside of a character.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

cp "$root/reports/tests/lib/facts.c" facts.c
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" facts.c \
    -o facts.so
same "run: status" "$(status run ./facts.so --runs 30 --fresh --db f.db)" 1
cp out.txt run.txt
same "report: status" "$(REWAKE_TIME=600s status report --db f.db -o pages)" 0
explained() {
    sqlite3 f.db "SELECT run FROM explained JOIN runs USING (run) JOIN sweeps USING (sweep)
        WHERE scenario = '$1'"
}
run=$(explained facts/lost)
page=pages/failure-$run.html

# ---- A name with a quote, a colon and a semicolon is one name; a reason is no step. ----
name="beta' waits for: x; 'y"
ok "text: the name is whole" grep -q "^lost-wakeup: \`$name\` is blocked" run.txt
same "waits: one reason for one name" "$(rewake explain ./facts.so "run:$run" --db f.db |
    grep -c "$name. waits for")" 0
html="beta&#39; waits for: x; &#39;y"
ok "page: the name is one piece of code" grep -q "<code>$html</code> is blocked" "$page"
ok "page: a name with backquotes too" grep -q '<code>`step 1` of grüß</code>' "$page"
ok "page: steps are links" grep -q 'since <a href="#step-1">step 1</a>' "$page"
not_ok "page: a reason is no link" grep -q '>step 2</a> of the handshake' "$page"
not_ok "page: a name is no link" grep -q '>step 1</a>` of' "$page"
same "database: what refers to a step is a step of the run" "$(sqlite3 f.db "
    SELECT count(*) FROM explained AS e, json_each(e.refs) AS c, json_each(c.value) AS r
    WHERE r.value ->> 3 IS NULL
        AND r.value ->> 2 > (SELECT steps FROM explained_runs AS t WHERE t.shown = e.failing)")" 0
same "database: it stands where it says" "$(sqlite3 f.db "
    SELECT DISTINCT CAST(substr(CAST(e.answer AS BLOB), 1 + (r.value ->> 0),
        (r.value ->> 1) - (r.value ->> 0)) AS TEXT) = 'step ' || (r.value ->> 2)
    FROM explained AS e, json_each(e.refs, '$.answer') AS r
    WHERE r.value ->> 2 IS NOT NULL AND r.value ->> 3 IS NULL")" 1
same "database: so does a line of source" "$(sqlite3 f.db "
    SELECT DISTINCT (r.value ->> 3) || ':' || (r.value ->> 2)
        LIKE '%' || CAST(substr(CAST(e.answer AS BLOB), 1 + (r.value ->> 0),
            (r.value ->> 1) - (r.value ->> 0)) AS TEXT)
    FROM explained AS e, json_each(e.refs, '$.answer') AS r WHERE r.value ->> 3 IS NOT NULL")" 1
ok "page: a sentence leads to the lines that it names" grep -q \
    '<p>.*<a href="#source-[0-9]*"><code>facts.c:[0-9]*</code></a>' "$page"
same "page: each such place is there, with its lines" "$(grep -o 'href="#source-[0-9]*"' "$page" |
    sort -u | sed 's/.*#\(.*\)"/\1/' | while read -r id; do
        grep -A 3 "id=\"$id\"" "$page" | grep -q '<pre class="source"' || echo "$id"
    done)" ""

# ---- 200 blocked tasks, named in UTF-8. ----
many=$(explained facts/many)
ok "headline: how many more" grep -q 'and 197 more\.' run.txt
same "database: each of them, and for what it waits" "$(sqlite3 f.db "
    SELECT count(*), count(DISTINCT which), min(text), max(text) FROM texts
    WHERE run = $many AND what = 'waiter'")" \
    '200|200|step 2 of the handshake|step 2 of the handshake'
ok "page: how many more" grep -q 'and 188 more' "pages/failure-$many.html"

# ---- Whatever is written is UTF-8. ----
rewake explain ./facts.so "run:$many" --db f.db >explain.txt 2>/dev/null
rewake explain ./facts.so "run:$many" --db f.db --json >explain.json 2>/dev/null
for format in junit sarif github markdown; do
    rewake export $format --db f.db >export.$format 2>/dev/null
done
ok "explain --json is JSON" every_line_is_json explain.json
same "every output is UTF-8" "$(for file in run.txt explain.* export.* pages/*.html; do
    iconv -f UTF-8 -t UTF-8 "$file" >/dev/null || echo "$file"
done)" ""
ok "its message says how many" test -n "$(sqlite3 f.db "SELECT message FROM details
    WHERE run = $many AND message LIKE '200 blocked, and none can make progress: %'")"
done_testing
