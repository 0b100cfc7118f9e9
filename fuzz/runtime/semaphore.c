/*
 * semaphore.c -- a semaphore against a line: requests of several permits, close, overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"

#include "fuzz/runtime/line_run.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct line_run base;
    struct rt_semaphore semaphore;
    struct rt_acquire acquires[CLIENTS];
    uint32_t wanted[CLIENTS];
    bool closed;
} run;

static void
begin(uint32_t id, struct fuzz_tape *tape)
{
    run.wanted[id] = (fuzz_byte(tape) + 1u) % 5;
    rt_acquire_init(&run.acquires[id], &run.semaphore, run.wanted[id]);
}

static bool
poll(uint32_t id, uint32_t waker)
{
    struct line *line = &run.base.line;
    if (run.closed) {
        line_leave(line, id);
    }
    bool ready = run.closed || line_poll(line, id, run.wanted[id], waker);
    struct rt_acquire *acquire = &run.acquires[id];
    rt_poll answer = rt_acquire_poll(acquire, clients_cx(&run.base.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    fuzz_check(!ready || acquire->err == (run.closed ? RT_E_CLOSED : RT_OK));
    return ready;
}

static void
drop(uint32_t id)
{
    line_leave(&run.base.line, id);
    rt_acquire_drop(&run.acquires[id]);
}

static void
release(uint32_t permits)
{
    struct line *line = &run.base.line;
    bool fits = permits <= RT_SEMAPHORE_PERMITS_MAX - line->free - line->assigned;
    if (fits) {
        line_give(line, permits);
    }
    fuzz_check(rt_semaphore_release(&run.semaphore, permits) == (fits ? RT_OK : RT_E_INVALID));
}

static void
try_acquire(uint32_t permits)
{
    rt_err expected = RT_E_CLOSED;
    if (!run.closed) {
        expected = permits == 0 || line_take(&run.base.line, permits) ? RT_OK : RT_E_AGAIN;
    }
    fuzz_check(rt_semaphore_try_acquire(&run.semaphore, permits) == expected);
}

static void
act(struct fuzz_tape *tape)
{
    uint32_t what = fuzz_below(tape, 16);
    if (what < 8) {
        release(what % 4);
    } else if (what < 14) {
        try_acquire(what % 4);
    } else if (what == 14) {
        /* Up to the last possible permit, or one more. */
        struct line *line = &run.base.line;
        release(RT_SEMAPHORE_PERMITS_MAX - line->free - line->assigned + fuzz_below(tape, 2));
    } else if (fuzz_below(tape, 4) == 3) {
        if (!run.closed) {
            run.closed = true;
            (void)line_wake_all(&run.base.line);
        }
        rt_semaphore_close(&run.semaphore);
    }
}

static void
compare(void)
{
    line_compare(&run.base.line, &run.semaphore.waiters);
    fuzz_check(rt_semaphore_free(&run.semaphore) == run.base.line.free);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct line_ops ops = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    uint32_t permits = fuzz_below(&tape, 4);
    line_run_init(&run.base, permits);
    rt_semaphore_init(&run.semaphore, permits);
    run.closed = false;
    line_run_input(&run.base, &ops, &tape);
    rt_semaphore_fini(&run.semaphore);
    clients_fini(&run.base.clients);
    return 0;
}

FUZZ_UNSEEN_END
