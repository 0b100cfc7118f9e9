#!/bin/sh
# threads.t -- programs with threads: found, minimized to one pre-emption, equal in any number of
# workers; and what threads do wrong.
#
# SPDX-License-Identifier: Apache-2.0
. sim/tests/cli/common.sh
ok "a library of programs builds" build_library threads
lib=./threads.so

# found NAME VERDICT MOST: a sweep finds it, and minimizes it to at most so many deviations.
found() {
    rewake run $lib "threads/$1" --fresh --json --db t.db >"$1.json" 2>/dev/null
    same "$1: the verdict" "$(sed -n \
        's/.*"event":"failure".*"verdict":"\([^"]*\)".*/\1/p' "$1.json" | head -1)" "$2"
    ok "$1: at most $3 deviations" test "$(sed -n \
        's/.*"to":{[^}]*"deviations":\([0-9]*\).*/\1/p' "$1.json" | head -1)" -le "$3"
}
found lost lost-wakeup 1
found crossed deadlock 1
found unlocks contract 0

rewake run $lib threads/lost --fresh --db t.db >lost.txt 2>&1
ok "a lost signal: it found no waiter" \
    grep -q 'fires it in ring_unguarded() (threads.c:26), when no' lost.txt
ok "a lost signal: why" grep -q 'is never seen by `main`' lost.txt
rewake run $lib threads/overflow --fresh --runs 1 --db t.db >overflow.txt 2>&1
ok "a stack overflow of a thread is named" grep -q 'the stack overflowed' overflow.txt
rewake run $lib threads/spins --fresh --runs 1 -O steps_max=20000 --db t.db >spins.txt 2>&1
ok "a thread that looks forever is stopped" grep -q '^step-limit: ' spins.txt

# One that a barrier wakes may go before the one that came last.
cat >barrier.c <<'END'
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t barrier;
static int others;
static void *meet(void *argument)
{
    if (pthread_barrier_wait(&barrier) == 0)
        others = 1;
    else
        assert(others == 0);
    return argument;
}
int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, meet, NULL);
    meet(NULL);
    return pthread_join(thread, NULL);
}
END
cc -g -w -pthread barrier.c -o barrier
rewake run ./barrier --fresh --fail-fast --db t.db >barrier.txt 2>&1
ok "who goes first after a barrier is open" grep -q 'others == 0' barrier.txt

# A wake is by an address alone: what is there may be freed by then, as GLib does with its locks.
cat >freed.c <<'END'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *done(void *argument)
{
    unsigned *word = argument;
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    unsigned *word = calloc(1, sizeof *word);
    pthread_create(&thread, NULL, done, word);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    free(word);
    return pthread_join(thread, NULL);
}
END
cc -g -w -pthread freed.c -o freed
same "a wake of a futex that is freed: it passes" \
    "$(status run ./freed --runs "$(few 2000 200)" --fresh --db t.db)" 0

# In each run threads have their own errno and thread-local variables, as at the beginning.
runs=$(few 3000 300)
for name in kept ordered queue locals leaves; do
    same "$name: $runs runs pass" "$(status run $lib threads/$name --runs "$runs" --fresh \
        --check-determinism 100 --db t.db)" 0
done
same "nothing but passes, and the same in other processes" \
    "$(grep -c '^PASS.* 3\(00\|000\|,000\) pass' out.txt)" 1

# Those that look do not starve the one that they look for.
for name in tries yields; do
    same "$name: they pass" \
        "$(status run $lib threads/$name --runs "$(few 500 50)" --fresh --db y.db)" 0
done

# digests JOBS: of all programs.
digests() {
    rewake run $lib threads/lost threads/crossed threads/queue threads/locals --seeds 1-300 \
        --strategy random --record none --no-shrink --fresh --jobs "$1" --json --db d.db \
        2>/dev/null |
        sed -n 's/.*"event":"scenario","name":"\([^"]*\)".*"digest":"\([^"]*\)".*/\1 \2/p'
}
ok "there are digests" test "$(digests 1 | grep -c 'threads/')" -eq 4
same "digests are equal for 1 and 2 workers" "$(digests 1)" "$(digests 2)"

# All that two pre-emptions can do.
same "the ordered form, explored: status" \
    "$(status explore $lib threads/ordered --bound 2 --db e.db)" 0
done_testing
