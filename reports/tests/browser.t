#!/bin/sh
# browser.t -- the pages of `rewake report` in a real browser: Debian's chromium, without a window.
#
# browser.py opens them and says what it saw, one TAP line each.
#
# SPDX-License-Identifier: Apache-2.0
python=/usr/bin/python3
for program in chromium chromedriver "$python"; do
    command -v "$program" >/dev/null || {
        echo "1..0 # SKIP $program is missing: scripts/setup --ci installs it"
        exit 0
    }
done
"$python" -c 'import selenium' 2>/dev/null || {
    echo '1..0 # SKIP python3-selenium is missing: scripts/setup --ci installs it'
    exit 0
}
. sim/tests/cli/common.sh
ln -s "$root/scenarios" scenarios
rewake run zoo/tokio-4497/broken --runs 50 --fresh --db a.db >/dev/null 2>&1
rewake run canary/livelock --runs 1 --fresh --db a.db >/dev/null 2>&1
rewake run canary/lost-wakeup --runs 50 --strategy random --fresh --db a.db >/dev/null 2>&1
rewake run zoo/monoio-147/broken --runs 50 --fail-fast --fresh --db a.db >/dev/null 2>&1
rewake report --db a.db -o out >/dev/null 2>&1
failure=$(sqlite3 a.db "SELECT max(run) FROM explained JOIN runs USING (run)
    JOIN sweeps USING (sweep) WHERE scenario = 'zoo/tokio-4497/broken'")
# A report of a database that was written by hand, as in overview.t.
(cd "$root/sim/store/tables" && cat schema.sql coverage.sql notes.sql) | sqlite3 s.db
sqlite3 s.db <"$root/reports/tests/lib/overview.sql"
rewake report --db s.db -o s >/dev/null 2>&1
# An instrumented build may name other callers on a page (report.t).
golden=$root/reports/tests/golden/looks.json
[ "$asan" != yes ] || golden=
HOME=$tmp "$python" "$root/reports/tests/browser.py" out "failure-$failure.html" s "$golden"
