#!/bin/sh
# late_timeouts.t -- a signal that is lost, and made good by the time-out of the wait: a row of what
# was done for nothing, with its line; with --late-timeouts a late wake-up.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
case $REWAKE in
*/release-* | */debug-* | */cov-*) ;;
*)
    echo '1..0 # SKIP programs are not run by this build'
    exit 0
    ;;
esac
source=$root/sim/tests/cli/lib/program/timed.c
ok "a program builds" rewake cc -O1 -w -o timed "$source" -pthread
if [ ! -x timed ]; then
    done_testing
    exit
fi
rewake run ./timed --runs 1 --record none -- condvar >out.txt 2>&1
if grep -q refused out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
# rows: kind and place, and in how many runs.
rows() {
    rewake query "SELECT kind, place, runs FROM wasted WHERE kind = 'own-timeout'" --json \
        --db w.db | sed 's/"runs":[1-9][0-9]*/"runs":N/'
}
# waits WHAT CALL: the line of CALL is in the row, and in the failure.
waits() {
    line=$(grep -n -m1 -F "$2" "$source" | cut -d: -f1)
    rm -f w.db
    same "$1: passes" "$(status run ./timed --runs 1000 --fresh --db w.db -- "$1")" 0
    same "$1: a row" "$(rows)" \
        "{\"kind\":\"own-timeout\",\"place\":\"timed.c:$line wait_$1\",\"runs\":N}"
    same "$1: too much waste" \
        "$(status run ./timed --runs 1000 --fresh --record none --max-waste 0 -- "$1")" 1
    ok "$1: ... says so" grep -q "own time-out only in one run at timed.c:$line" out.txt
    same "$1: --late-timeouts" "$(status run ./timed --runs 1000 --fresh --late-timeouts \
        --fail-fast --record none -- "$1")" 1
    ok "$1: ... is a late wake-up" grep -q "^FAIL timed: late-wakeup" out.txt
    ok "$1: ... with its line" grep -q "timed.c:$line" out.txt
    token=$(sed -n 's/^replay: .* \(rw1:.*\)/\1/p' out.txt)
    same "$1: ... is replayed" "$(status replay ./timed "$token")" 1
    ok "$1: ... as the same" grep -q 'same failure, late-wakeup' out.txt
}
waits condvar 'pthread_cond_timedwait('
waits futex 'FUTEX_WAIT, 0, &time'
waits poll 'poll(&fd, 1, 10)'
waits epoll 'epoll_wait(set'
waits select 'select(bell + 1'
# A semaphore keeps each post: it is not asked.
rm -f w.db
same "semaphore: passes" "$(status run ./timed --runs 1000 --fresh --late-timeouts --db w.db -- \
    semaphore)" 0
same "semaphore: no row" "$(rows)" ""
done_testing
