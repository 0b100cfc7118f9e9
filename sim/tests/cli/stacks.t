#!/bin/sh
# stacks.t -- a report has the call stack of each thread, without frame pointers too.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
build_library stuck '-O2 -fomit-frame-pointer'
same "two threads are blocked" "$(status run ./stuck.so --runs 2 --db s.db)" 1
for thread in 0 1; do
    ok "the stack of thread $thread" grep -q \
        "\`thread $thread\`:  #0 inner stuck.c:[0-9]*  #1 outer stuck.c:[0-9]*  #2 thread_main" \
        out.txt
done
run=$(rewake query --db s.db 'SELECT min(run) FROM failures' | grep -o '[0-9]*' | tail -1)
same "a replay has them too" "$(status show ./stuck.so "run:$run" --db s.db)" 0
rewake query --db s.db "SELECT count(*) AS n FROM texts WHERE what = 'stack'" >texts.txt
ok "addresses are not stored" grep -qw 0 texts.txt
same "a run that passes has none" "$(status run canary/lost-wakeup --runs 5 --db c.db >/dev/null
    grep -c 'Where each thread is' out.txt)" 0
done_testing
