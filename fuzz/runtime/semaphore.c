/*
 * semaphore.c -- a semaphore against a line: requests of several permits, close, overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"

#include "fuzz/runtime/people.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct people people;
    struct rt_semaphore semaphore;
    struct rt_acquire acquires[PEOPLE];
    uint32_t wanted[PEOPLE];
    bool closed;
} run;

static void
begin(uint32_t who, struct fuzz_tape *tape)
{
    run.wanted[who] = (fuzz_byte(tape) + 1u) % 5;
    rt_acquire_init(&run.acquires[who], &run.semaphore, run.wanted[who]);
}

static bool
poll(uint32_t who, uint32_t waker)
{
    struct line *line = &run.people.line;
    if (run.closed) {
        line_leave(line, who);
    }
    bool ready = run.closed || line_poll(line, who, run.wanted[who], waker);
    struct rt_acquire *acquire = &run.acquires[who];
    rt_poll answer = rt_acquire_poll(acquire, crowd_cx(&run.people.crowd, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    fuzz_check(!ready || acquire->err == (run.closed ? RT_E_CLOSED : RT_OK));
    return ready;
}

static void
drop(uint32_t who)
{
    line_leave(&run.people.line, who);
    rt_acquire_drop(&run.acquires[who]);
}

static void
release(uint32_t permits)
{
    struct line *line = &run.people.line;
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
        expected = permits == 0 || line_take(&run.people.line, permits) ? RT_OK : RT_E_AGAIN;
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
        /* To the last permit that there can be, or one further. */
        struct line *line = &run.people.line;
        release(RT_SEMAPHORE_PERMITS_MAX - line->free - line->assigned + fuzz_below(tape, 2));
    } else if (fuzz_below(tape, 4) == 3) {
        if (!run.closed) {
            run.closed = true;
            (void)line_wake_all(&run.people.line);
        }
        rt_semaphore_close(&run.semaphore);
    }
}

static void
compare(void)
{
    line_compare(&run.people.line, &run.semaphore.waiters);
    fuzz_check(rt_semaphore_free(&run.semaphore) == run.people.line.free);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct people_ways ways = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    uint32_t permits = fuzz_below(&tape, 4);
    people_init(&run.people, permits);
    rt_semaphore_init(&run.semaphore, permits);
    run.closed = false;
    people_run(&run.people, &ways, &tape);
    rt_semaphore_fini(&run.semaphore);
    crowd_fini(&run.people.crowd);
    return 0;
}

FUZZ_UNSEEN_END
