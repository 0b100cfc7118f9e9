/*
 * notify.c -- one permit in store, notifications that are passed on, calls of all, against a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"

#include "fuzz/runtime/people.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct people people;
    struct rt_notify notify;
    struct rt_notified notified[PEOPLE];
} run;

static void
begin(uint32_t who, struct fuzz_tape *tape)
{
    (void)tape;
    rt_notified_init(&run.notified[who], &run.notify);
}

static bool
poll(uint32_t who, uint32_t waker)
{
    struct line *line = &run.people.line;
    bool called = line_was_called(line, who);
    if (called) {
        line_leave(line, who);
    }
    bool ready = called || line_poll(line, who, 1, waker);
    rt_poll answer = rt_notified_poll(&run.notified[who], crowd_cx(&run.people.crowd, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    return ready;
}

/* One is stored at most (K8), where one that was passed on meets another. */
static void
keep_one(void)
{
    struct line *line = &run.people.line;
    line->free = line->free > 1 ? 1 : line->free;
}

static void
drop(uint32_t who)
{
    line_leave(&run.people.line, who);
    keep_one();
    rt_notified_drop(&run.notified[who]);
}

static void
act(struct fuzz_tape *tape)
{
    if (fuzz_below(tape, 4) < 3) {
        line_give(&run.people.line, 1);
        keep_one();
        rt_notify_one(&run.notify);
    } else {
        uint32_t count = line_wake_all(&run.people.line);
        fuzz_check(rt_notify_all(&run.notify) == count);
    }
}

static void
compare(void)
{
    line_compare(&run.people.line, &run.notify.waiters);
    fuzz_check(rt_notify_stored(&run.notify) == (run.people.line.free == 1));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct people_ways ways = {begin, poll, drop, act, compare, true};
    struct fuzz_tape tape = fuzz_tape(data, size);
    people_init(&run.people, 0);
    rt_notify_init(&run.notify);
    people_run(&run.people, &ways, &tape);
    rt_notify_fini(&run.notify);
    crowd_fini(&run.people.crowd);
    return 0;
}

FUZZ_UNSEEN_END
