#!/bin/sh
# zoo.t -- the table of real bugs: what it says, what it stores, and what it does not let pass.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

# ---- Bugs that are what they say. ----
same "bugs are found, their fixed forms hold: status" \
    "$(status zoo 'zoo/a0*' --runs 300 --db z.db)" 0
listed=$(rewake list 'zoo/a0*/broken' | wc -l)
ok "one line a bug" test "$(grep -c '^zoo/a0' out.txt)" -eq "$listed"
ok "the reference stands in it" grep -q '^zoo/a06 *tokio-rs/tokio#4497 *lost-wakeup' out.txt
ok "no line is wider than a terminal" not_in out.txt '^.\{101\}'
same "the table is stored" \
    "$(rewake query "SELECT class, verdict, dullest, found FROM zoo_table WHERE name = 'zoo/a06'" \
        --json --db z.db)" \
    '{"class":"A","verdict":"lost-wakeup","dullest":"no","found":"20/20"}'
rewake zoo 'zoo/a06/*' --runs 300 --db z.db >/dev/null
same "measured again, a bug has one row" \
    "$(rewake query "SELECT count(*) AS n FROM zoo WHERE name = 'zoo/a06'" --json --db z.db)" \
    '{"n":1}'
same "the same figures for 1 and 3 workers" \
    "$(rewake zoo 'zoo/a0*' --runs 300 --record none --jobs 3)" \
    "$(rewake zoo 'zoo/a0*' --runs 300 --record none --jobs 1)"
same "as JSON: status" "$(status zoo 'zoo/a0*' --runs 100 --json --record none)" 0
ok "every line is JSON" every_line_is_json out.txt
same "no bug matches: status" "$(status zoo 'seeds/*' --record none)" 4
ok "no bug matches: one line" one_line err.txt

# ---- Bugs that are not. ----
build_library zoo
same "a bug that nobody finds: status" \
    "$(status zoo ./zoo.so 'false/u1/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'NOT FOUND' out.txt
same "a fixed form that fails: status" \
    "$(status zoo ./zoo.so 'false/u2/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'FAILS' out.txt
same "another verdict than stated: status" \
    "$(status zoo ./zoo.so 'false/u3/*' --runs 50 --record none)" 1
ok "it says so" grep -q 'NOT AS STATED' out.txt
same "no fixed form: status" "$(status zoo ./zoo.so 'false/u4/*' --runs 50 --record none)" 0
ok "it says so" grep -q ' none$' out.txt
same "a worker that is killed from outside is nobody's failure" \
    "$(status zoo ./zoo.so 'false/u5/*' --runs 50 --record none)" 0
ok "it was killed" test -e killed
done_testing
