#!/bin/sh
# overview.t -- `rewake report`: the pages about sweeps. GOLDEN=new writes the golden pages.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
golden=$root/reports/tests/golden

new_db() {
    (cd "$root/sim/store/tables" && cat schema.sql coverage.sql notes.sql) | sqlite3 "$1"
}
# The page without its head, where the style is.
main_of() {
    sed -n '/<main/,/<\/main>/p' "$1"
}
# Every page exists that a page of FOLDER links to.
links_lead_somewhere() {
    grep -o 'href="[^"]*"' "$1"/*.html | sed 's/^[^:]*:href="//; s/"$//' | sort -u |
        while IFS= read -r link; do
            case $link in
            data:* | '#'* | *lcov*) ;;
            *) [ -f "$1/${link%%#*}" ] || echo "nowhere: $link" ;;
            esac
        done >nowhere.txt
    [ ! -s nowhere.txt ]
}

# ---- A hand-written database, page by page. ----
new_db s.db
sqlite3 s.db <"$root/reports/tests/lib/overview.sql"
same "report: status" "$(status report --db s.db -o s)" 0
for page in index command-1 command-2 coverage coverage-4; do
    main_of s/$page.html >$page.txt
    [ -z "${GOLDEN:-}" ] || cp $page.txt "$golden/$page.html"
    ok "$page.html: golden page" diff -u "$golden/$page.html" $page.txt
done
ok "links lead somewhere" links_lead_somewhere s
same "one script, the same in each page" "$(grep -h '<script' s/*.html | sort -u | wc -l)" 1
cat >hash.pl <<'END'
use Digest::SHA 'sha256_base64';
while (<>) {
    print 'sha256-', sha256_base64($1), '=' if /<script>(.*)<.script>/;
}
END
same "... which the policy allows by its hash" "$(perl hash.pl s/index.html)" \
    "$(grep -o "script-src '[^']*'" s/index.html | cut -d "'" -f 2)"
ok "no other" sh -c '! grep -il "javascript:\| on[a-z]*=" s/*.html'
ok "nothing from elsewhere" sh -c '! grep -l "https\?://" s/*.html'
ok "text of a scenario is escaped" grep -q 'the &lt;reader&gt; sleeps &amp; sleeps' s/index.html
sqlite3 s.db 'DROP TABLE sweep_notes'
same "without notes: status" "$(status report --db s.db -o o)" 0
ok "without notes: links lead somewhere" links_lead_somewhere o

# ---- Nothing, and too much. ----
new_db e.db
same "an empty database: status" "$(status report --db e.db -o e)" 0
ok "an empty database: it is said" grep -q 'has no sweep yet' e/index.html
ok "an empty database: links lead somewhere" links_lead_somewhere e
new_db m.db
sqlite3 m.db "INSERT INTO verdicts VALUES (0, 'pass', ''), (1, 'lost-wakeup', '');
    INSERT INTO oracles VALUES (2, 'rewake', '');
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO sweeps SELECT i, 'many/' || i, NULL, 'random', '{}', '', NULL, 1, i * 1000, 9,
        100000, 9, 9, i, 1 FROM n;
    INSERT INTO sweep_verdicts SELECT sweep, 1, 100000 FROM sweeps;
    INSERT INTO runs SELECT sweep, sweep, 0, 1, 1, 1, 1, 1, 1, 1, 2, 1, 0, sweep, 1, 0, 9, 0, 1,
        NULL FROM sweeps"
same "much: status" "$(status report run:1 --db m.db -o m)" 0
ok "much: failures are cut, and it is said" \
    grep -q '^<p class="dim">100 more ways to fail' m/index.html
ok "much: scenarios likewise" grep -q '^<p class="dim">100 more scenarios' m/index.html
ok "much: commands likewise" grep -q '^<p class="dim">250 older commands' m/index.html
ok "much: links lead somewhere" links_lead_somewhere m

# ---- lcov's pages. ----
mkdir -p 'out/lcov pages'
echo '<p>' >'out/lcov pages/index.html'
same "--lcov: status" "$(status report --db s.db -o out/r --lcov 'out/lcov pages')" 0
ok "--lcov: linked, from the page" grep -q 'href="../lcov%20pages/index.html"' out/r/coverage.html
same "--lcov inside: status" "$(status report --db s.db -o out --lcov 'out/lcov pages')" 0
ok "--lcov inside: linked" grep -q 'href="lcov%20pages/index.html"' out/coverage.html
ok "without --lcov: no link" sh -c '! grep -q lcov.*index s/coverage.html'
mkdir -p build/coverage/html
echo '<p>' >build/coverage/html/index.html
same "what make coverage wrote here: status" "$(status report --db s.db -o usual)" 0
ok "what make coverage wrote here: linked" \
    grep -q 'href="../build/coverage/html/index.html"' usual/coverage.html
rm -r build
same "--lcov nowhere: status" "$(status report --db s.db -o n --lcov nowhere)" 2
ok "--lcov nowhere: said" grep -q "^rewake report: nowhere/index.html: " err.txt

# ---- A real sweep. ----
rewake run canary/lost-wakeup zoo/tokio-4497/fixed --runs 100 --check-determinism 5 --db r.db \
    >/dev/null
rewake report --db r.db -o r >/dev/null
ok "a sweep: nothing failed but the canary" grep -q '>Nothing failed<' r/index.html
ok "a sweep: the canary" grep -q '>1 of 1 ended as expected<' r/index.html
ok "a sweep: what to do next" grep -q \
    'search on (<code>--time 60s</code>): about [0-9]* % of random runs' r/coverage.html
ok "a sweep: nothing of what ended as expected" grep -q 'nothing: it ended as expected' \
    r/coverage.html
ok "a sweep: replica runs" grep -q 'runs were repeated in another process' r/index.html
ok "a sweep: links lead somewhere" links_lead_somewhere r
done_testing
