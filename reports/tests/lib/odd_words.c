/*
 * odd_words.c -- a library whose lost wake-up is told in characters that every format must escape:
 * markup, quotes, percent signs, an escape sequence, a line end, a byte that is no UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct sleeper {
    struct rt_task task;
    struct rt_slot slot;
};

static rt_poll
sleeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sleeper *sleeper = rt_container_of(task, struct sleeper, task);
    rt_slot_replace(&sleeper->slot, cx, "<b>&\"'100%0A,::]]>\x1b[31m\n\xff\xc3\xa9`|*");
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sleeper *sleeper = sim_new(world, struct sleeper);
    rt_slot_init(&sleeper->slot);
    rt_task_init(&sleeper->task, sleeper_poll, NULL, "sleeper");
    sim_spawn(rt, &sleeper->task);
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
