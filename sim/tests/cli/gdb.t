#!/bin/sh
# gdb.t -- one step of a run, the way to a step, and both under a debugger; cores of crashes.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
name=zoo/tokio-4497/broken
rewake run $name --runs 300 --fresh --json --db g.db >g.json
# The smallest run: the story of the zoo's page, eight steps.
token=$(grep -o '"shrunk":{"token":"[^"]*"' g.json | head -n 1 | cut -d '"' -f 6)
steps=$(rewake replay "$token" --json | sed -n 's/.*"steps":\([0-9]*\).*/\1/p')
ok "there is a small run" test "$steps" -ge 4

# ---- One step, without a debugger. ----
same "--step: status" "$(status replay "$token" --step 3)" 0
ok "--step: whose it is" grep -q "^step 3 of $steps, at 200ns: peer: poll, fires" out.txt
ok "--step: who else could have run" grep -q '^ *1 operator' out.txt
ok "--step: who was chosen" grep -q '^ *->  0 peer' out.txt
ok "--step: who sleeps, and where" \
    grep -q 'greeter .*blocked since step 2, waits for .*tokio-4497.c:' out.txt
same "--until: status" "$(status replay "$token" --until 4)" 0
ok "--until: the step is there" grep -q '^ *4 .*operator' out.txt
ok "--until: the next one is not" not_in out.txt '^ *5 '
ok "--until: the state of each actor" grep -q '^state of each actor after step 4' out.txt
same "--until --verbose: status" "$(status replay "$token" --until "$steps" --verbose)" 0
ok "--until --verbose: events with their lines" \
    grep -q 'stores waker for a hello .*tokio-4497.c:' out.txt
ok "--until --verbose: the clock" grep -q 'all wait; it becomes 2ms' out.txt
longest=$(grep -v '^in gdb' out.txt | awk 'length > n { n = length } END { print n + 0 }')
ok "--until --verbose: no line is too long" test "$longest" -le 100
refused "a step that is not there" 2 replay "$token" --step $((steps + 1))
refused "step 0" 2 replay "$token" --step 0
refused "--step and --until" 2 replay "$token" --step 1 --until 2
refused "--verbose alone" 2 replay "$token" --verbose
refused "--gdb with a token from stdin" 2 replay - --gdb
refused "a file without a name" 2 replay @
ok "a file without a name: it is said" grep -q "'@' without the name" err.txt

# ---- In the process itself. ----
rewake replay "$token" --json >far.json
rewake replay "$token" --json --here >here.json
same "--here: the same run" "$(cat here.json)" "$(cat far.json)"
"$REWAKE" replay "$token" --here --step 3 >/dev/null 2>&1
same "--here --step without a debugger: SIGTRAP" "$?" 133

# ---- gdb. ----
PATH=/nowhere "$REWAKE" replay "$token" --gdb >out.txt 2>err.txt
same "no gdb: status" "$?" 70
ok "no gdb: one line" one_line err.txt
ok "no gdb: what to do" grep -q 'apt-get install gdb' err.txt

# debug ARGS...: replay under gdb, which reads its commands from stdin; what it says is in gdb.txt.
debug() {
    "$REWAKE" replay "$@" --gdb >gdb.txt 2>&1
}
# said LINE...: the lines are there, in this order.
said() {
    for line; do
        printf '%s\n' "$line"
    done | awk 'FNR == NR { wanted[++n] = $0; next }
        at < n && index($0, wanted[at + 1]) { at++ }
        END { if (at < n) { print "missing: " wanted[at + 1]; exit 1 } }' - gdb.txt
}
if ! command -v gdb >/dev/null; then
    echo "# skipped: gdb is not installed"
elif ! gdb -q -batch -ex run --args true 2>&1 | grep -q 'exited normally'; then
    echo "# skipped: gdb may not start a process here"
else
    debug "$token" --step 5 <<'END'
rewake where
rewake tasks
rewake wakers
rewake ledger
rewake next
rewake prev 3
rewake step 6
rewake enter
print *task
print task->slots
print cx->executor->targets
print cx->waker
rewake step 2
rewake step 1000
rewake where
rewake step 4
rewake prev 10
kill
END
    ok "gdb: it stops at the step" said 'step 5 at 400ns: `greeter` (task' 'step 5 at 400ns'
    ok "gdb: tasks" said 'greeter   task    takes step 5' \
        'operator  task    sleeps since step 4  1      sleep at tokio-4497.c:'
    ok "gdb: wakers" said 'whose     waits for' \
        'server    a connection  tokio-4497.c:' '*(struct rt_slot *)0x'
    ok "gdb: ledger" said 'step  and then' 'fired at 3 by peer'
    ok "gdb: next, back, and on" said 'step 6 at 500ns: `server`' 'step 3 at 200ns: `peer`' \
        'step 6 at 500ns: `server`'
    ok "gdb: into the poll function" said 'server_poll (task='
    ok "gdb: printers" said 'task `server`: running, 2 polls, poll = server_poll' 'empty list' \
        'slab, 2 of 64 taken = {' 'waker of entry 0, generation 1'
    ok "gdb: back with one command" said 'waker of entry 0' 'step 2 at 100ns: `greeter`'
    ok "gdb: past the end the run is over, and judged" said 'step 2 at 100ns' \
        'same failure, lost-wakeup' 'exited with code 01' 'no run is in progress here'
    ok "gdb: and made again" said 'exited with code 01' 'step 4 at 300ns: `operator`'
    ok "gdb: no step before the first" said 'steps are numbered from 1'
    # As many waits as `show` has, and of the same ends.
    debug "$token" <<'END'
rewake ledger
kill
END
    ok "gdb: without --step, where the wake was owed" said "step $steps at 2ms: \`operator\`"
    ends='s/.* \(open\|[a-z-]* at [0-9]*\).*/\1/p'
    sed -n '/and then/,/^(gdb) [^w]*$/p' gdb.txt | sed '1d' | sed -n "$ends" | sort >gdb.ends
    rewake show "$token" | sed -n '/^who .*and then/,/^$/p' | sed '1d' | sed -n "$ends" |
        sort >show.ends
    sed -i "s/ended at/erased at/" show.ends
    same "gdb: the ledger has the ends of show's" "$(cat gdb.ends)" "$(cat show.ends)"

    # ---- A library of the user's, in a folder with blanks. ----
    ok "a library builds" build_library bad
    mkdir 'my tests'
    mv bad.so 'my tests/bad.so'
    rewake run './my tests/bad.so' bad/crash --runs 1 --fresh --json --db c.db >c.json 2>/dev/null
    crash=$(token_of c.json)
    debug './my tests/bad.so' "$crash" <<'END'
continue
bt
rewake tasks
kill
END
    ok "gdb: a crash in a library stops there" said 'is about to take it' \
        'received signal SIG' 'bad.c:'
    ok "gdb: and the tasks are reported" said 'who ' ' task '

    # ---- A program, loaded from a copy in memory, with its threads. ----
    if [ $asan = no ]; then
        cc -g -O0 "$root/sim/tests/cli/lib/program/lost.c" -o lost -pthread
        rewake run ./lost --fail-fast --fresh --json --db p.db >p.json
        lost=$(token_of p.json)
        last=$(rewake replay ./lost "$lost" --json | sed -n 's/.*"steps":\([0-9]*\).*/\1/p')
        debug ./lost "$lost" --step "$last" <<'END'
rewake tasks
rewake thread "thread 1"
rewake thread 2 info symbol $pc
rewake thread stranger
rewake thread
rewake step 5
rewake enter
kill
END
        ok "gdb: threads, and where they wait" said 'thread 1  task  sleeps since' 'lost.c:'
        ok "gdb: the stack of a thread" said ' in waiter (a=' 'lost.c:'
        ok "gdb: a command on it" said ' in section .text of '
        ok "gdb: no such thread" said 'there is no `stranger` in this run' \
            'usage: rewake thread WHO'
        ok "gdb: into a thread" said 'Temporary breakpoint' 'lost.c:'
    fi

    # ---- Cores. ----
    lib="./my tests/bad.so"
    if [ $asan = no ] && grep -q '^core$' /proc/sys/kernel/core_pattern; then
        (
            ulimit -c unlimited
            rewake replay "$lib" "$crash" >core.txt 2>&1
        )
        ok "a crash leaves a core when asked for" grep -q 'Its process left a core: core' core.txt
        core=$(ls core* | grep -v txt | head -n 1)
        gdb -q -batch -x "$root/scripts/gdb/rewake.py" -ex 'rewake tasks' -ex 'rewake ledger' \
            -ex 'rewake next' "$REWAKE" "$core" >gdb.txt 2>&1
        ok "gdb: the tasks from a core" said 'who ' ' task ' 'and then'
        ok "gdb: a core does not go on" said 'a core stands still'
        rm -f core*
        rewake replay "$lib" "$crash" >core.txt 2>&1
        ok "without ulimit there is none" not_in core.txt 'left a core'
    else
        echo "# skipped: cores go elsewhere here"
    fi
fi
done_testing
