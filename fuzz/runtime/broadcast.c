/*
 * broadcast.c -- who waits when it fires, and in which order they are woken, against a line.
 *
 * The order is the executor's to choose: here it chooses by what the tape said, and the model too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/broadcast.h"

#include <string.h>

#include "fuzz/runtime/people.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct people people;
    struct rt_broadcast broadcast;
    struct rt_heard heard[PEOPLE];
    uint32_t order; /* Answers every question, from its lowest digit on … */
    uint32_t model; /* … and the same for the model. */
} run;

static uint32_t
answer_next(uint32_t *order, uint32_t n)
{
    uint32_t answer = *order % n;
    *order /= n;
    return answer;
}

static uint32_t
choose(void *argument, uint32_t n)
{
    return answer_next(argument, n);
}

static void
begin(uint32_t who, struct fuzz_tape *tape)
{
    (void)tape;
    rt_heard_init(&run.heard[who], &run.broadcast);
}

static bool
poll(uint32_t who, uint32_t waker)
{
    struct line *line = &run.people.line;
    bool ready = line_was_called(line, who);
    if (ready) {
        line_leave(line, who);
    } else {
        ready = line_poll(line, who, 1, waker);
    }
    rt_poll answer = rt_heard_poll(&run.heard[who], crowd_cx(&run.people.crowd, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    return ready;
}

static void
drop(uint32_t who)
{
    line_leave(&run.people.line, who);
    rt_heard_drop(&run.heard[who]);
}

/* Whom a call of all wakes, in the order of the line. */
static uint32_t
list_due(uint8_t *due)
{
    struct line *line = &run.people.line;
    uint32_t count = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        struct line_member *member = &line->members[line->order[i]];
        if (member->stand == LINE_QUEUED && member->waker != NOBODY) {
            due[count++] = member->waker;
        }
    }
    return count;
}

/* The executor of the one in front is asked who is next; a foreign waker has none. */
static uint32_t
next_of(const uint8_t *due, uint32_t count)
{
    return count > 1 && due[0] % WAKERS < LOCAL ? answer_next(&run.model, count) : 0;
}

static void
act(struct fuzz_tape *tape)
{
    uint8_t due[PEOPLE];
    struct crowd *crowd = &run.people.crowd;
    run.order = run.model = (uint32_t)fuzz_byte(tape) * 3;
    uint32_t count = list_due(due);
    fuzz_check(line_wake_all(&run.people.line) == count);
    crowd->owed.count = 0; /* In another order. */
    for (uint32_t left = count; left > 0; left--) {
        uint32_t at = next_of(due, left);
        crowd_write(&crowd->owed, due[at]);
        memmove(due + at, due + at + 1, left - at - 1);
    }
    fuzz_check(rt_broadcast_fire(&run.broadcast) == count);
}

static void
compare(void)
{
    line_compare(&run.people.line, &run.broadcast.waiters);
    fuzz_check(run.people.line.free == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct people_ways ways = {begin, poll, drop, act, compare, false};
    struct fuzz_tape tape = fuzz_tape(data, size);
    people_init(&run.people, 0);
    run.people.crowd.executor.choose = choose;
    run.people.crowd.executor.choose_argument = &run.order;
    rt_broadcast_init(&run.broadcast);
    people_run(&run.people, &ways, &tape);
    rt_broadcast_fini(&run.broadcast);
    crowd_fini(&run.people.crowd);
    return 0;
}

FUZZ_UNSEEN_END
