#!/bin/sh
# foreign.t -- runtimes that are none of ours: their bugs are found, explained at their own lines.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh

same "all, in both forms, --expect: status" \
    "$(status run 'foreign/*' --runs "$(few 3000 1000)" --expect --fresh --record none \
        --check-determinism 1)" 0
same "who is well is never blamed, each quiescence looked at: status" \
    "$(status run 'foreign/*/fixed' --runs "$(few 1000 100)" --fresh --record none \
        -O audit_one_in=1 -O spurious_one_in=2 -O slow_one_in=2 -O fault_one_in=2)" 0

line_of() {
    grep -n "$1" "$root/scenarios/foreign/$2" | cut -d: -f1
}

# found NAME TASK FILE LINE: a lost wake-up of TASK, of which `explain` names that
# line.
found() {
    rewake run "foreign/$1/broken" --fail-fast --fresh --json --db "$1.db" >"$1.json" 2>/dev/null
    ok "$1: $2 has lost its wake" grep -q "'$2' is blocked forever" "$1.json"
    rewake explain "$(token_of "$1.json")" >"$1.txt"
    same "$1: explain: status" "$?" 1
    ok "$1: explain names $3:$4" grep -q "($3:$4)" "$1.txt"
    ok "$1: the run can be reported in another order" grep -q '^It fails when ' "$1.txt"
}
found executor job executor.c "$(line_of '    event_fire(&program->done);' executor.c)"
ok "executor: it was sent and dropped" grep -q 'is sent, and dropped: at step' executor.txt
found evented results evented.c "$(line_of 'program->handed_over++;' evented.c)"
ok "evented: no task was woken" grep -q 'and fires nothing for it there' evented.txt
ok "evented: by way of async_send" grep -q 'async_send()' evented.txt

# ---- Between two statements of a loop: it gives way before it calls the host. ----
same "drain: a few hundred runs find it: status" \
    "$(status run foreign/drain/broken --runs 400 --fresh --record none)" 1
found drain items drain.c "$(line_of 'program->posted++;' drain.c)"
ok "drain: explain names the decision" grep -q 'call of the host before which it may' drain.txt
ok "drain: show names the call" sh -c "\"$REWAKE\" show \"$(token_of drain.json)\" |
    grep -q 'before read()'"
same "drain: the default schedule passes: status" \
    "$(status explore foreign/drain/broken --bound 0)" 0
same "drain: a loop that drains first is never accused: status" \
    "$(status run foreign/drain/fixed --runs "$(few 20000 1000)" --fresh --record none)" 0
same "calls at which a loop may give way, that the page on the seam does not list" \
    "$(grep -rhoE 'sim__(host|fds)_call\([^"]*"[a-z_]+' "$root/sim" | sed 's/.*"//' | sort -u |
        while read -r call; do
            grep -q "\`$call\`" "$root/sim/docs/host-seam.md" || echo "$call"
        done)" ""

rewake show run:1 --db executor.db >show.txt
ok "show: the ledger of a foreign executor's wakers" \
    grep -q '^job .*the result .*executor.c:' show.txt

# A wake that was sent and dropped is nowhere said to be missing: not in columns, pages, exports.
run=run:$(rewake query --db executor.db 'SELECT min(run) FROM failures' | tail -n 1)
sent="was woken, and no poll followed"
rewake show "$run" --db executor.db >sent.txt
rewake report --db executor.db -o pages >/dev/null 2>&1
rewake export chrome "$run" --db executor.db >executor.chrome
rewake export perfetto "$run" --db executor.db >executor.perfetto
rewake export graphviz "$run" --db executor.db >executor.dot
ok "show: the wake was sent" grep -q "here job $sent" sent.txt
ok "report: the wake was sent" grep -rq "here job $sent" pages
ok "Chrome: the wake was sent" grep -q "here it $sent" executor.chrome
ok "Perfetto: the wake was sent" grep -aq "here it $sent" executor.perfetto
ok "Graphviz: the wake was sent" grep -q 'sent by step [0-9]*, no poll followed' executor.dot
same "nowhere it should have been" \
    "$(grep -rla 'should have been woken\|missing, owed' sent.txt pages executor.*)" ""

# ---- A registration that is used up by its report, and is not armed again. ----
# shellcheck disable=SC2086 # Several flags.
$cc -std=c17 -D_GNU_SOURCE -DRT_PROBES -O1 -g -shared -fPIC $library_flags -I"$root" \
    "$root/sim/tests/cli/lib/oneshot.c" -o oneshot.so
same "one-shot: both forms, --expect: status" \
    "$(status run ./oneshot.so --runs "$(few 1000 300)" --expect --fresh --record none)" 0
same "one-shot: who asks again is never blamed: status" "$(status run ./oneshot.so oneshot/fixed \
    --runs 300 --fresh --record none -O audit_one_in=1 -O spurious_one_in=2 -O late_one_in=2)" 0
rewake run ./oneshot.so oneshot/broken --fail-fast --fresh --db one.db >one.txt 2>/dev/null
ok "one-shot: the columns say that it is not reported" \
    grep -q 'is ready (not reported:' one.txt
rewake explain ./oneshot.so "$(rewake query --db one.db 'SELECT coalesce(shrunk_token, token)
    FROM failures' | tail -n 1)" | tr '\n' ' ' >one-why.txt
line=$(grep -n 'sim_fd_read' "$root/sim/tests/cli/lib/oneshot.c" | cut -d: -f1)
ok "one-shot: who did not ask again, and its last line" grep -q \
"\`download. blocks at step [0-9]* and does not ask its host again: its last line is in \
on_readable() (oneshot.c:$line)" one-why.txt
ok "one-shot: what came after that" grep -q \
    '`socket. is ready, at step [0-9]*, and not reported: one-shot' one-why.txt

done_testing
