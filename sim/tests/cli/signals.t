#!/bin/sh
# signals.t -- an interrupted sweep: it ends soon, keeps what it found, and blames no run.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
build_library bad
lib=./bad.so


# ---- ^C while a run hangs. ----
"$REWAKE" run $lib bad/some-hang --strategy random --seeds 4-60 --hang 300s --jobs 1 --db h.db \
    >h.txt 2>&1 &
pid=$!
ok "^C in a hang: it hangs" soon has_computed $pid
kill -INT $pid
ok "^C in a hang: it ends" soon gone $pid
kill -KILL $pid 2>/dev/null
wait $pid
same "^C in a hang: status" "$?" 5
ok "^C in a hang: what was done is reported" \
    grep -q '^[1-9][0-9]* runs: [1-9][0-9]* passed, 0 failed' h.txt
ok "^C in a hang: and stored" test "$(sqlite3 h.db 'SELECT runs FROM sweeps')" -ge 1
same "^C in a hang: the run that was cut off is none" \
    "$(sqlite3 h.db 'SELECT count(*) FROM failures')" 0

# ---- SIGTERM to the whole group, as timeout(1) and a terminal that closes send it. ----
setsid "$REWAKE" run 'articles/*' --time 60s --jobs 2 --db t.db >t.txt 2>&1 &
sleep 0.2
group=$(pgrep -f "run articles/. --time 60s --jobs 2 --db t.db" | head -n 1)
soon has_done t.db 100
# The workers hear it first, as they may.
for again in 1 2 3 4 5 6 7 8 9 10 11 12; do
    kill -TERM $(pgrep -P "$group")
    sleep 0.1
done
same "SIGTERM to the workers: nothing has happened ($again times)" \
    "$(sqlite3 t.db 'SELECT count(*) FROM failures')" 0
kill -TERM -"$group"
ok "SIGTERM to the group: it ends" soon gone "$group"
wait $!
same "SIGTERM to the group: status" "$?" 5
ok "SIGTERM to the group: it reports" grep -q '^[0-9]* runs: [0-9]* passed, 0 failed' t.txt
ok "SIGTERM to the group: no run has failed" not_in t.txt 'crash'
same "SIGTERM to the group: nor in the database" \
    "$(sqlite3 t.db 'SELECT count(*) FROM failures')" 0
done_testing
