/*
 * barrier.c -- three members meet at a barrier, round after round.
 *
 * The barrier counts arrivals and has a generation, which the last arrival raises. A member waits
 * until the generation differs from the one in which it arrived, so a second poll of the same wait
 * is not a second arrival, and a fast member that is already in the next round cannot take the
 * place of a slow one. The last arrival wakes all slots after it has raised the generation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define MEMBERS 3u
#define ROUNDS 4u

struct barrier {
    struct rt_slot slots[MEMBERS];
    uint32_t arrived;
    uint32_t generation;
};

struct member {
    struct rt_task task;
    struct barrier *barrier;
    struct rt_slot *slot;
    bool waiting;
    uint32_t generation; /* In which it arrived. */
    uint32_t rounds;
};

static void
barrier_arrive(struct barrier *barrier)
{
    if (++barrier->arrived < MEMBERS) {
        return;
    }
    barrier->arrived = 0;
    barrier->generation++;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        rt_slot_wake(&barrier->slots[i]);
    }
}

static rt_poll
member_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    struct barrier *barrier = member->barrier;
    while (member->rounds < ROUNDS) {
        if (!member->waiting) {
            member->waiting = true;
            member->generation = barrier->generation;
            barrier_arrive(barrier);
        }
        if (barrier->generation == member->generation) {
            rt_slot_replace(member->slot, cx, "the others at the barrier");
            return RT_PENDING;
        }
        member->waiting = false;
        member->rounds++;
        SIM_ALWAYS(member->rounds <= barrier->generation);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[MEMBERS] = {"first", "second", "third"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct barrier *barrier = sim_new(world, struct barrier);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct member *member = sim_new(world, struct member);
        rt_slot_init(&barrier->slots[i]);
        member->barrier = barrier;
        member->slot = &barrier->slots[i];
        rt_task_init(&member->task, member_poll, NULL, names[i]);
        sim_spawn(rt, &member->task);
    }
}

SIM_SCENARIO(correct_barrier, .name = "correct/barrier",
        .about = "Three members meet at a barrier with a generation counter.", .setup = setup);
