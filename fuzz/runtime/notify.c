/*
 * notify.c -- a stored permit, notifications that are passed on, wakes of all, against a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"

#include "fuzz/runtime/line_run.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct line_run base;
    struct rt_notify notify;
    struct rt_notified notified[CLIENTS];
} run;

static void
begin(uint32_t id, struct fuzz_tape *tape)
{
    (void)tape;
    rt_notified_init(&run.notified[id], &run.notify);
}

static bool
poll(uint32_t id, uint32_t waker)
{
    struct line *line = &run.base.line;
    bool called = line_was_called(line, id);
    if (called) {
        line_leave(line, id);
    }
    bool ready = called || line_poll(line, id, 1, waker);
    rt_poll answer = rt_notified_poll(&run.notified[id], clients_cx(&run.base.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    return ready;
}

/* At most one is stored (K8), also if one that is passed on meets another. */
static void
keep_one(void)
{
    struct line *line = &run.base.line;
    line->free = line->free > 1 ? 1 : line->free;
}

static void
drop(uint32_t id)
{
    line_leave(&run.base.line, id);
    keep_one();
    rt_notified_drop(&run.notified[id]);
}

static void
act(struct fuzz_tape *tape)
{
    if (fuzz_below(tape, 4) < 3) {
        line_give(&run.base.line, 1);
        keep_one();
        rt_notify_one(&run.notify);
    } else {
        uint32_t count = line_wake_all(&run.base.line);
        fuzz_check(rt_notify_all(&run.notify) == count);
    }
}

static void
compare(void)
{
    line_compare(&run.base.line, &run.notify.waiters);
    fuzz_check(rt_notify_stored(&run.notify) == (run.base.line.free == 1));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct line_ops ops = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    line_run_init(&run.base, 0);
    rt_notify_init(&run.notify);
    line_run_input(&run.base, &ops, &tape);
    rt_notify_fini(&run.notify);
    clients_fini(&run.base.clients);
    return 0;
}

FUZZ_UNSEEN_END
