/*
 * odd_words.c -- a library whose lost wake-up has characters that every format must escape:
 * markup, quotes, percent signs, an escape sequence, a line end, a byte that is no UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct waiter {
    struct rt_task task;
    struct rt_slot slot;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    rt_slot_replace(&waiter->slot, cx, "<b>&\"'100%0A,::]]>\x1b[31m\n\xff\xc3\xa9`|*");
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct waiter *waiter = sim_new(world, struct waiter);
    rt_slot_init(&waiter->slot);
    rt_task_init(&waiter->task, waiter_poll, NULL, "blocked");
    sim_spawn(rt, &waiter->task);
}

SIM_SCENARIO(odd, .name = "odd/words", .about = "Waits for something that is hard to write down.",
        .setup = setup);

static void
check(struct sim_world *world, void *state)
{
    (void)state;
    SIM_ALWAYS(sim_pick(world, 4) == 0 || "a,b:c" == NULL);
}

static void
nothing(struct sim_world *world)
{
    (void)sim_rt_new(world, NULL);
}

SIM_SCENARIO(odd_assertion, .name = "odd/assertion", .about = "A sentence with a comma.",
        .setup = nothing, .check = check);
