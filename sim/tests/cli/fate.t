#!/bin/sh
# fate.t -- programs of unseen sets: the explanation names the line of the cause or its counterpart.
#
# Someone who knew the documentation alone wrote those of lib/unseen; the first line of each states
# its cause. The two sets were explained right 3 of 14 times and 1 of 8 times at first sight; they
# are kept so that it does not get worse again.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-*) ;;
*)
    echo '1..0 # SKIP programs are not run by this build'
    exit 0
    ;;
esac
# named NAME KIND LINES [LIBRARIES]: built, found, and explained as KIND, with all of LINES.
named() {
    name=$1
    source=$(ls "$root"/sim/tests/cli/lib/unseen/"$name".c* \
        "$root"/sim/tests/cli/lib/"$name".c* 2>/dev/null)
    case $source in
    *.cc) compiler="g++ -std=c++20" ;;
    *) compiler="gcc -std=gnu17" ;;
    esac
    # shellcheck disable=SC2086
    $compiler -g -O1 -w -pthread -o "$name" "$source" ${4:-} || return
    rewake run "./$name" --runs 3000 --jobs 1 --fail-fast --no-shrink --fresh --db f.db \
        >out.txt 2>&1
    id=$(grep -o 'run:[0-9]*' out.txt | head -n 1)
    rewake explain "./$name" "$id" --json --db f.db >e.json 2>err.txt
    same "$name: what is missing" "$(jq -r .cause.kind e.json)" "$2"
    for line in $3; do
        ok "$name: names line $line" jq -e --argjson line "$line" \
            '.cause.at | any(.line == $line)' e.json
    done
    jq -r '.findings[].text' e.json >text.txt
}
says() {
    ok "$name: $1" grep -q -F -e "$1" text.txt
}
rewake run /bin/true --runs 1 --record none >out.txt 2>&1
if grep -q 'refused\|cannot run' out.txt || ! command -v jq >/dev/null; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
# The signal comes before the wait.
named t_idle fired-early '42 59'
says 'misses its wake'
# A signal: between the test and poll().
named d_sigpoll fired-early 35
# It wakes one of its own kind, which waits again; one that does nothing with it.
named t_queue never-fired 44
says 'waits again'
named s8_onecond never-fired '23 31 42'
says 'called from take() (s8_onecond.c:46), wakes `thread 2`'
named onecond never-fired '32 20 29'
says 'in pop() (onecond.cc:32), called from work() (onecond.cc:39), wakes `thread 2`'
named t_timedget never-fired 54
says 'does not wake'
# What is left in a socket is not reported again.
named d_edge never-stored 55
says 'and leaves'
# One of two connections is accepted.
named s5_accept never-stored 57
says 'and leaves 1 connection'
# A timer that is set to a time that is over; waited for in select().
named s5_deadline never-stored 61
says 'which is not armed: the last call is timerfd_settime(3, disarm)'
# One thing is taken for each report, and two writes are one report.
named counter erased '25 52'
says 'gets one report for 2 writes'
# One thread joins another with the lock that it needs.
named t_join not-a-wake '63 72'
says 'to end'
# Three locks in a circle, and main waits for the end of one of them.
named t_bank not-a-wake 26
says 'none of them can go first'
# A flag that is cleared too late; a count that a fast thread has raised again.
named d_doorbell never-fired '36 38 90'
says 'which `main` writes'
named c_barrier never-fired 27
# A condition decided on what another thread writes later.
named c_sleepers never-fired '38 77'
says 'decided the other way, and nothing else changed, it passes'
# What another thread skips, by a flag that is cleared too late; what two skip, each once.
named s5_poke never-fired '42 94'
says 'and does not come to inbox_put() (s5_poke.c:44)'
named s5_mailbag never-fired 39
says 'leaves the function by the condition in deliver() (s5_mailbag.c:39)'
# Interest that is missing, a report that is dropped.
named d1_relay never-stored '27 34'
says 'has to wait for space, which is not asked for'
says 'Notified in a replay, `main` makes progress.'
named d3_oneshot never-stored '27 34'
says 'and drops the report'
# An arming that is undone.
named d_timer erased 31
says 'That undoes timerfd_settime(4, 1.999ms) of `thread 1`'
# Two signals are one; what a handler does not ask for again, and by which condition; a
# notification that is read in another loop; a count that each of two waiters has raised; a bit
# that has come back; a wake that was for another, and the one that is missing, behind a lock.
named f_signals erased '15 28'
says 'gets one report for 2 signals of signalfd'
named f_unwatched erased '39 41'
says 'the condition in take_record() (f_unwatched.c:28)'
named f_twice erased '49 77 79'
says 'is read in two places'
named f_raised never-fired '16 33'
says 'reads what `thread 2` wrote'
says 'in be_alone() (f_raised.c:33)'
named f_returned not-a-wake '19 32'
says 'it was changed 2 times, last by `main`'
named f_other never-fired 36
# The step of a wake that comes too early is that of the wake, not that of the line before.
named s8_idle fired-early '46 68'
step=$(sed -n 's/.*sends it at step \([0-9]*\),.*/\1/p' text.txt)
rewake explain "./$name" "$id" --db f.db >out.txt
ok "$name: the wake is that of step $step" grep -q "^[> ]*$step .*wakes" out.txt
# What the other run reads was written here too, and overwritten.
named s8_barrier never-fired '26 36'
says 'in barrier_wait() (s8_barrier.c:36)'
# What a call returns: the end, which is taken for nothing; more than was asked for.
named s8_hup not-a-wake '26 60'
says 'goes to line 51 from the condition in main() (s8_hup.c:60)'
named f_ahead not-a-wake 42
named s10_rpc not-a-wake 62
says 'in dispatch() (s10_rpc.c:62)'
named s10_resolver never-fired '39'
says 'is never seen by `main`'
# A signal that comes too early, and why its handler wakes no more.
named s9_sigwork fired-early '65 75'
says 'goes to line 38 from the condition in on_hup() (s9_sigwork.c:35)'
# How much it writes is no result; and what rewake plays is no library.
named s9_logflush erased 58
ok "$name: no function of rewake's" not_in text.txt 'sim__'
ok "$name: no write" not_in text.txt 'gets write'
# An assertion: what was read, changed by another and changed back, and used all the same.
named s9_connpool not-a-wake 77
says 'That follows from one condition, at step 28'
says '`thread 4` reads pool.open'
# The same, compiled from a folder beside it: the compiler was given "../s9_connpool.c".
mkdir below
cp "$root/sim/tests/cli/lib/unseen/s9_connpool.c" .
(cd below && gcc -g -w -pthread -o ../relative ../s9_connpool.c)
rewake run ./relative --runs 3000 --jobs 1 --fail-fast --fresh --db f.db >text.txt 2>&1
says 'pool_get() (s9_connpool.c:'
named s8_aba not-a-wake 54
says 'writes what it has made of the old value, in take() (s8_aba.c:53)'
# A library that is asked to end before it runs; one that has ended when it is told something.
if echo 'int main(void) {}' | gcc -x c -o linked - -luv -levent -levent_pthreads 2>err.txt; then
    named s8_evbreak fired-early 54 '-levent -levent_pthreads'
    says 'misses its wake'
    named s8_uvunref not-a-wake 56 -luv
    says 'here it comes to that only at step'
    # Two calls of a library that are one.
    named s15_uvindex coalesced 41 -luv
    says 'Here it notifies no one'
fi
# Where the thread stands that is preempted, and what another changes meanwhile.
named s14_cowconf not-a-wake 84
says 'At step 25 `thread 2` stands in config_set() (s14_cowconf.c:70)'
says 'what `thread 2` had read at step 23, in config_get() (s14_cowconf.c:26)'
named s15_journal not-a-wake 98
says 'reads next at step 22, in write_loop() (s15_journal.cc:68)'
# A condition that owes more than one wake, and what it is decided on, an instant.
named s16_stop never-fired 33
says 'in submit() (s16_stop.cc:36)'
says 'which `thread 1` wrote at step 11, in run() (s16_stop.cc:69)'
says 'decided the other way from then on'
# A wake that went to another does not matter where a third has owed one since.
named s18_newsroom never-fired 48
says 'at step 55 `thread 1` should have woken it'
# With nothing to compare with: on what it has decided to wait.
named full not-a-wake 17
says 'reads queued in put() (full.c:16)'
says 'in fill() (full.c:27), called from main()'
# A process that dies: what was executed up to there.
named s15_pubsub not-a-wake 72
says 'comes to leave() (s15_pubsub.cc:56) while `main` is at publish() (s15_pubsub.cc:73)'
# A timer that is not armed, as a replay shows, comes before what is compared.
named s15_courier erased 50
says 'That undoes timerfd_settime(5, 40ms)'
# A signal that wakes one who does not want it.
named s15_spooler never-fired 50
says 'waits again at step'
# Scenarios: the condition by which a task does not come to the wake, and one
# that was woken and is cancelled.
scenario() {
    name=$1
    source=$(ls "$root"/scenarios/unseen/set-1/programs/"$name".c* \
        "$root"/sim/tests/cli/lib/unseen/"$name".c* 2>/dev/null)
    case $source in
    *.cc) compiler="g++ -std=c++20" ;;
    *) compiler="gcc -std=gnu17" ;;
    esac
    # shellcheck disable=SC2086
    $compiler -g ${4:-} -w -shared -fPIC -DRT_PROBES -I"$root" -o "$name.so" "$source" || return
    rewake run "./$name.so" '*/broken' --runs 1000 --jobs 1 --fresh --no-shrink --json \
        --db f.db >r.json 2>&1
    id=$(jq -r 'select(.event == "failure" and (.scenario | endswith("/broken"))) | .run' r.json |
        head -n 1)
    rewake explain "./$name.so" "run:$id" --json --db f.db >e.json 2>err.txt
    same "$name: what is missing" "$(jq -r .cause.kind e.json)" "$2"
    same "$name: the first line" "$(jq -r '.cause.at[0].line' e.json)" "$3"
    jq -r '.findings[].text' e.json >text.txt
}
scenario s2_dirty never-stored 26
says 'is not followed by an enter()'
says 'With an enter() in a replay'
# The state of a ring; what was refused, unheard, merged, left.
scenario s2_overflow never-stored 40
says 'alone moves them into it, and none'
scenario s2_stop not-a-wake 23
says 'complete(CANCEL, 1) = RT_E_BUSY'
scenario s2_alienfull never-fired 53
says 'operation 2 is not taken'
scenario s2_resubscribe never-stored 61
says 'in guard_poll() (s2_resubscribe.c:45)'
scenario s2_twoevents coalesced 29
says 'and leaves 1 in there'
scenario s2_notifycount coalesced 43
says 'two notifications become one'
scenario s7_mail coalesced 35
says 'and leaves 1 in there'
# Assertions: what was read, and a condition before that, of the writer in this run too; a call that
# would have led to what is not written.
scenario s7_expired not-a-wake 69
says 'from the condition in call_expired() (s7_expired.c:69)'
# `run` says the same, where it has looked up the stack in its headline before; and each walk comes
# to its end: what it takes memory for is not the run's.
explained() {
    name=$1
    gcc -std=gnu17 -g -O1 -w -shared -fPIC -I"$root" -o "$name.so" \
        "$root/sim/tests/cli/lib/unseen/$name.c" || return
    rewake run "./$name.so" '*/broken' --runs 100 --jobs 1 --fail-fast --record none 2>&1 |
        tr '\n' ' ' >text.txt
}
explained s15_alarms
says 'in on_give_up() (s15_alarms.c:67), called from fire_due() (s15_alarms.c:79)'
explained s3_multi
says 'it goes through rt_reactor_ready()'
scenario s7_gather not-a-wake 90
says 'in asker_poll() (s7_gather.c:80)'
scenario s7_lateread not-a-wake 78
says 'in reader_poll() (s7_lateread.c:66)'
scenario s7_respawn not-a-wake 63
says 'leads to that, in finish_quest() (s7_respawn.c:55)'
says 'returns -3'
# What no run that passes does: a condition, a write, and of an actor what is never read.
scenario s10_guard not-a-wake 53
scenario s10_pool erased 52
says 'overwrites what `cron` wrote'
scenario s10_conns not-a-wake 67
says 'in leave() (s10_conns.c:55)'
# With a function of one byte before another one, that the walk must not take for it.
scenario s9_relay not-a-wake 96 -O1
says 'goes to line 97 from the condition in on_in() (s9_relay.c:96)'
# What is counted too early: who comes after that is not seen.
scenario s9_guestread never-fired 63 -O1
says 'is never seen by `disk`, which looked last at step 8 in count_waiting() (s9_guestread.c:43)'
# In two of 20 runs that pass something repairs it.
scenario s11_reception not-a-wake 101
says 'More often than 20 runs that pass'
says 'leaves the function by the condition in server_accepted() (s11_reception.c:101)'
# A wake that is early: what the other has put there, and is not seen.
scenario s9_mailbox never-fired 49 -O1
says 'is never seen by `worker 0`, which looked last at step'
# A loop that sleeps without an instant.
scenario s9_wheel not-a-wake 46 -O1
scenario c_event never-fired 28
says 'decided the other way, and nothing else changed, it passes'
scenario s2_armed never-fired 23
says 'here only at step'
scenario t_pool never-fired 58
# What many runs say: who is woken in its place, and what that one does as none does there; by
# which condition the line is not come to that wakes it there; a call that comes before its own.
says 'Unlike all that are woken there in runs that pass, at step 7 `impatient` goes to line 59'
scenario s13_lease never-fired 46
says 'leaves the function by the condition in out_of_patience() (s13_lease.c:46)'
scenario s15_flow never-fired 63
says 'In runs that pass it is woken in drain() (s15_flow.c:65)'
scenario s15_config fired-early 81
says 'only at step 25, in change_poll() (s15_config.c:40)'
scenario s16_rw never-fired 71 -O1
says 'which waits for to read'
# A task that a loop of the program's runs has the lines of that loop.
scenario s17_turnpike never-stored 48
says 'does not ask its host again: its last line is in on_lane()'
# A timer that no line asks to be reported once is none of ONESHOT.
scenario s18_postroom never-stored 52
says 'its timer `walk` is not armed'
# Checked before a wait, changed since: the actor that the condition ends in the run that passes.
scenario s18_cinema not-a-wake 52
says 'from one condition, at step 7 in clerk_poll() (s18_cinema.c:32)'
says 'changes that only at step 10, in clerk_poll() (s18_cinema.c:40)'
# Kept over a wait, or over a callback, and changed meanwhile.
scenario s19_granary not-a-wake 73
says '(s19_granary.c:46) what `miller` read at step 4 in miller_poll() (s19_granary.c:47)'
scenario s20_tramway not-a-wake 52
says 'in takings_write() (s20_tramway.c:52) what `shard 1` read at step 34 in takings_read()'
scenario s19_clockmaker not-a-wake 71
says ', but `clock` has filled that again at step 8 in chime_stop()'
# What came back by messages, for something else: a late answer, and one that is given to another.
named s21_letterbox not-a-wake 102
says 'uses in main() (s21_letterbox.c:102) the answer to what it wrote at step'
says ', and has written the next one since, at step'
scenario s21_registry not-a-wake 153
says 'uses in give_answers() (s21_registry.c:73) the answer to what it wrote at step'
scenario s21_courier not-a-wake 83
says 'uses in shop_poll() (s21_courier.c:61) the answer to what it wrote at step 1'
# The place that was referred to was given back and taken again.
named s20_bakery not-a-wake 115
says 'uses in deliver() (s20_bakery.c:66) what `thread'
says '` has filled that again at step'
scenario s18_arena not-a-wake 54
says 'uses in hit() (s18_arena.c:93) what the world referred to at step'
# What a host may do, and seldom does: the second operation ends first; one succeeds that was to be
# cancelled; two signals are one.
scenario s19_bookbinder not-a-wake 50
says 'ends before what `binder` began at step 1 in part_poll() (s19_bookbinder.c:50)'
scenario s21_trough not-a-wake 68
says 'the cancel by `shepherd` at step 3 in read_poll() (s21_trough.c:56) comes too late'
says ' that fail'
named s20_mill not-a-wake 106
says 'in mill_put() (s20_mill.c:26) is one with what was sent before, which is still pending'
# Half of those that fail do it, and one in fifteen of those that pass.
scenario s22_assay not-a-wake 71
says ' that fail'
# Nothing but timers for an hour: a minute of that is the same, and its runs are compared.
named s22_kiln never-fired '101 46 42'
says 'in on_beat() (s22_kiln.c:41)'
# Checked, and written later, when another has changed it.
named s21_berth not-a-wake 81
says 'uses in moor() (s21_berth.c:80) what'
# A structure that is cleared by a vector; and what a call has put there.
named s19_beehive not-a-wake 44
says 'which `main` wrote at step 12, in sell() (s19_beehive.c:45)'
scenario s20_newsroom not-a-wake 36
says 'has put there, in line_read() (s20_newsroom.c:66), called from desk_main()'
says ', and 8 in the run that passes.'
# What was copied, and is changed after that.
scenario s15_tickets not-a-wake 98
says 'that is a copy of what `shard 0` changes at step'
# A task that wakes itself keeps another from its turn, which has stored its waker nowhere.
scenario s22_foundry not-a-wake 78
says 'Each round goes through shop_main() (s22_foundry.c:102)'
same 's22_foundry: no wake is lost' \
    "$(jq -r 'select(.event == "failure" and (.scenario | endswith("/broken"))) | .verdict' r.json |
        sort -u)" livelock
# A message that is shorter than in the run that passes.
named s23_weighbridge not-a-wake 87
says 'has put there, in receive() (s23_weighbridge.c:61)'
says 'it returns 1'
# Two channels are full, and each is emptied by who waits for space in the other.
scenario s23_counter not-a-wake 68
says '`agency` waits for space in channel 1, in agency_poll() (s23_counter.c:68), from which'
says ': none of them can go first. Take what is there before more is sent'
# The waker that replaces another has the line of the call.
scenario s15_digest replaced 53
scenario c_mutex never-fired 53
says '~lock_awaiter() (c_mutex.cc:82), before it has used what it was given'
scenario e_barging never-fired 52
says 'is cancelled at step'
done_testing