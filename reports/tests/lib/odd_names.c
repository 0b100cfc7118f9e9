/*
 * odd_names.c -- a library whose tasks have names that are hard to write down, and wake each other:
 * quotes, backslashes, line ends, bytes that are no UTF-8, markup, a long one, two of one name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define NAMES 6u
#define TURNS 3u

static const char *const names[NAMES] = {"\"quoted\\", "two\nlines\t{}",
        "\xff\xfe no utf8 \xc3\xa9\xe2\x82\xac", "<b>&amp;</b>",
        "a rather long name a rather long name a rather long name a rather long name a rather long "
        "name",
        "\"quoted\\"};

struct ring;

struct member {
    struct rt_task task;
    struct rt_slot slot;
    struct ring *ring;
    uint32_t turns;
    bool signalled;
};

struct ring {
    struct member members[NAMES];
};

/* Passes a turn to the next one, until it has done so often enough. */
static rt_poll
member_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    struct ring *ring = member->ring;
    uint32_t index = (uint32_t)(member - ring->members);
    struct member *next = &ring->members[(index + 1) % NAMES];
    if (member->signalled || index == 0) {
        member->signalled = false;
        member->turns++;
        next->signalled = true;
        (void)rt_slot_wake(&next->slot);
    }
    if (member->turns == TURNS) {
        return RT_READY;
    }
    rt_slot_replace(&member->slot, cx, "\"its\" turn\n");
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct ring *ring = sim_new(world, struct ring);
    for (uint32_t i = 0; i < NAMES; i++) {
        struct member *member = &ring->members[i];
        member->ring = ring;
        rt_slot_init(&member->slot);
        rt_task_init(&member->task, member_poll, NULL, names[i]);
        sim_spawn(rt, &member->task);
    }
}

SIM_SCENARIO(odd_names, .name = "odd/names", .about = "A ring of tasks with \"odd\" names.",
        .setup = setup);
