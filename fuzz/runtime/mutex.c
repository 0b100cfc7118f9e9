/*
 * mutex.c -- the owner of the mutex, and its grants, against a line with one unit.
 *
 * A client whose lock returned READY owns the mutex until the tape unlocks it: at most one does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/mutex.h"

#include "fuzz/runtime/line_run.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct line_run base;
    struct rt_mutex mutex;
    struct rt_lock locks[CLIENTS];
    bool held;
} run;

static void
hold(void)
{
    fuzz_check(!run.held);
    run.held = true;
}

static void
begin(uint32_t id, struct fuzz_tape *tape)
{
    (void)tape;
    rt_lock_init(&run.locks[id], &run.mutex);
}

static bool
poll(uint32_t id, uint32_t waker)
{
    bool ready = line_poll(&run.base.line, id, 1, waker);
    rt_poll answer = rt_lock_poll(&run.locks[id], clients_cx(&run.base.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    if (ready) {
        hold();
    }
    return ready;
}

static void
drop(uint32_t id)
{
    line_leave(&run.base.line, id);
    rt_lock_drop(&run.locks[id]);
}

static void
unlock(void)
{
    if (run.held) {
        run.held = false;
        line_give(&run.base.line, 1);
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
    bool locked = line_take(&run.base.line, 1);
    fuzz_check(rt_mutex_try_lock(&run.mutex) == locked);
    if (locked) {
        hold();
    }
}

static void
compare(void)
{
    line_compare(&run.base.line, &run.mutex.waiters);
    fuzz_check(rt_mutex_locked(&run.mutex) == (run.base.line.free == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct line_ops ops = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    line_run_init(&run.base, 1);
    rt_mutex_init(&run.mutex);
    run.held = false;
    line_run_input(&run.base, &ops, &tape);
    unlock();
    rt_mutex_fini(&run.mutex);
    clients_fini(&run.base.clients);
    return 0;
}

FUZZ_UNSEEN_END
