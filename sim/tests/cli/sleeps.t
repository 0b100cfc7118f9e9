#!/bin/sh
# sleeps.t -- sleeps do not order threads: by default each may last some milliseconds longer, which
# a deadline of 100 ms is no failure of.
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
rewake run /bin/true --runs 1 --record none >out.txt 2>&1
if grep -q 'refused\|cannot run' out.txt; then
    echo '1..0 # SKIP this build plays no threads'
    exit 0
fi
# built NAME SOURCE FLAG...
built() {
    name=$1 source=$2
    shift 2
    gcc -std=gnu17 -g -O1 -w -pthread "$@" -o "$name" "$source"
}
search() {
    status run --jobs 1 --fail-fast --fresh --db s.db "$@"
}
built sleeps "$root/sim/tests/cli/lib/program/sleeps.c"
for what in order alone; do
    same "$what: found" "$(search ./sleeps --runs 3000 -- $what)" 1
    token=$(sed -n 's/^replay: .* \(rw1:[^ ]*\).*/\1/p' out.txt)
    same "$what: is replayed" "$(status replay ./sleeps "$token")" 1
done
rewake explain ./sleeps "$token" >why.txt 2>&1
ok "alone: what decides is a sleep that lasts longer" \
    grep -q 'lasts 16 ms longer' why.txt
for what in watchdog answer elapsed start; do
    same "$what: passes" "$(search ./sleeps --runs "$(few 1000 100)" --record none -- $what)" 0
    same "$what: fails with --slow-steps" \
        "$(search ./sleeps --runs 1000 --record none --slow-steps -- $what)" 1
done
# A timerfd that was slept past: it may be late, but not by milliseconds.
built overdue "$root/sim/tests/cli/lib/program/overdue.c"
for what in epoll edge poll select read gettime wait; do
    same "overdue, $what: passes" \
        "$(search ./overdue --runs "$(few 500 50)" --record none -- $what)" 0
done
same "overdue by 1 us: found" "$(search ./overdue --runs 500 --record none -- soon)" 1
# Of lib/unseen, where virtual time alone would decide the order.
for name in t2_keepalive s4_barrier s4_coalesce s4_connpool s4_deadline s4_frames s4_wheel \
    s4_window; do
    source=$root/sim/tests/cli/lib/unseen/$name.c
    built "$name" "$source"
    same "$name: found" "$(search "./$name" --runs 3000 --record none --no-shrink)" 1
    built "$name" "$source" -DFIXED
    same "$name: passes where it is fixed" \
        "$(search "./$name" --runs "$(few 500 50)" --record none)" 0
done
# It works until some time, and is not over before in a million cheap steps.
built until "$root/sim/tests/cli/lib/program/until.c"
same "until: passes" "$(search ./until --runs 2 --record none)" 0
same "until, by many looks at a clock: passes" \
    "$(search ./until --runs 2 --record none -- looks)" 0
same "until, without an end: fails" "$(search ./until --runs 1 --record none -- looks ever)" 1
# Correct ones whose time-outs are near when the question is put.
built ok10_batons "$root/sim/tests/cli/lib/unseen/ok10_batons.c"
same "ok10_batons: passes" "$(search ./ok10_batons --runs 3000 --record none)" 0
gcc -std=gnu17 -g -O1 -shared -fPIC -I"$root" -o ok10_rearm.so \
    "$root/sim/tests/cli/lib/unseen/ok10_rearm.c"
same "ok10_rearm: passes" "$(search ./ok10_rearm.so --runs 3000 --record none)" 0
# What its time-out brings in part, as another has left by then; where libevent is there.
if built ok12_bucket "$root/sim/tests/cli/lib/unseen/ok12_bucket.c" -levent_core 2>/dev/null; then
    same "ok12_bucket: passes" "$(search ./ok12_bucket --runs 2000 --record none)" 0
fi
done_testing
