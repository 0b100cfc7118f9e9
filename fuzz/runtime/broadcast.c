/*
 * broadcast.c -- which waiters a broadcast wakes, in which order, against a line.
 *
 * The executor chooses the order: here by the tape, and the model does the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/broadcast.h"

#include <string.h>

#include "fuzz/runtime/line_run.h"

FUZZ_UNSEEN_BEGIN

static struct {
    struct line_run base;
    struct rt_broadcast broadcast;
    struct rt_heard heard[CLIENTS];
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
begin(uint32_t id, struct fuzz_tape *tape)
{
    (void)tape;
    rt_heard_init(&run.heard[id], &run.broadcast);
}

static bool
poll(uint32_t id, uint32_t waker)
{
    struct line *line = &run.base.line;
    bool ready = line_was_called(line, id);
    if (ready) {
        line_leave(line, id);
    } else {
        ready = line_poll(line, id, 1, waker);
    }
    rt_poll answer = rt_heard_poll(&run.heard[id], clients_cx(&run.base.clients, waker));
    fuzz_check(answer == (ready ? RT_READY : RT_PENDING));
    return ready;
}

static void
drop(uint32_t id)
{
    line_leave(&run.base.line, id);
    rt_heard_drop(&run.heard[id]);
}

/* The wakers that a call of all wakes, in the order of the line. */
static uint32_t
list_due(uint8_t *due)
{
    struct line *line = &run.base.line;
    uint32_t count = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        struct line_member *member = &line->members[line->order[i]];
        if (member->state == LINE_QUEUED && member->waker != NONE) {
            due[count++] = member->waker;
        }
    }
    return count;
}

/* The executor of the head waiter chooses the next; a foreign waker has none. */
static uint32_t
next_of(const uint8_t *due, uint32_t count)
{
    return count > 1 && due[0] % WAKERS < LOCAL ? answer_next(&run.model, count) : 0;
}

static void
act(struct fuzz_tape *tape)
{
    uint8_t due[CLIENTS];
    struct clients *clients = &run.base.clients;
    run.order = run.model = (uint32_t)fuzz_byte(tape) * 3;
    uint32_t count = list_due(due);
    fuzz_check(line_wake_all(&run.base.line) == count);
    clients->expected.count = 0; /* The order is chosen below. */
    for (uint32_t left = count; left > 0; left--) {
        uint32_t at = next_of(due, left);
        clients_write(&clients->expected, due[at]);
        memmove(due + at, due + at + 1, left - at - 1);
    }
    fuzz_check(rt_broadcast_fire(&run.broadcast) == count);
}

static void
compare(void)
{
    line_compare(&run.base.line, &run.broadcast.waiters);
    fuzz_check(run.base.line.free == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct line_ops ops = {begin, poll, drop, act, compare, false};
    struct fuzz_tape tape = fuzz_tape(data, size);
    line_run_init(&run.base, 0);
    run.base.clients.executor.choose = choose;
    run.base.clients.executor.choose_argument = &run.order;
    rt_broadcast_init(&run.broadcast);
    line_run_input(&run.base, &ops, &tape);
    rt_broadcast_fini(&run.broadcast);
    clients_fini(&run.base.clients);
    return 0;
}

FUZZ_UNSEEN_END
