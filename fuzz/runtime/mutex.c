/*
 * mutex.c -- who holds the mutex, and who was handed it, against a line with one unit.
 *
 * Whoever was answered READY holds it until the tape unlocks it: at most one does, which is what a
 * mutex is for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/mutex.h"

#include "fuzz/runtime/people.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct people people;
    struct rt_mutex mutex;
    struct rt_lock locks[PEOPLE];
    bool held;
} run;

static void
hold(void)
{
    fuzz_check(!run.held);
    run.held = true;
}

static void
begin(uint32_t who, struct fuzz_tape *tape)
{
    (void)tape;
    rt_lock_init(&run.locks[who], &run.mutex);
}

static bool
poll(uint32_t who, uint32_t waker)
{
    bool ready = line_poll(&run.people.line, who, 1, waker);
    rt_poll answer = rt_lock_poll(&run.locks[who], crowd_cx(&run.people.crowd, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    if (ready) {
        hold();
    }
    return ready;
}

static void
drop(uint32_t who)
{
    line_leave(&run.people.line, who);
    rt_lock_drop(&run.locks[who]);
}

static void
unlock(void)
{
    if (run.held) {
        run.held = false;
        line_give(&run.people.line, 1);
        rt_mutex_unlock(&run.mutex);
    }
}

static void
act(struct fuzz_tape *tape)
{
    if (fuzz_below(tape, 3) < 2) {
        unlock();
        return;
    }
    bool locked = line_take(&run.people.line, 1);
    fuzz_check(rt_mutex_try_lock(&run.mutex) == locked);
    if (locked) {
        hold();
    }
}

static void
compare(void)
{
    line_compare(&run.people.line, &run.mutex.waiters);
    fuzz_check(rt_mutex_locked(&run.mutex) == (run.people.line.free == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct people_ways ways = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    people_init(&run.people, 1);
    rt_mutex_init(&run.mutex);
    run.held = false;
    people_run(&run.people, &ways, &tape);
    unlock();
    rt_mutex_fini(&run.mutex);
    crowd_fini(&run.people.crowd);
    return 0;
}

FUZZ_UNSEEN_END
