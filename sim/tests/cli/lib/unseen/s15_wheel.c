/* Cause: insert(), line 41: an entry that is a whole turn of the wheel away gets one round too many, and is called
 * a turn late; repair: (ticks - 1) / SPOKES rounds, as its bucket is passed for the first time after `ticks`. */
#include <sim/rewake.h>

/* A limiter: callers must wait a penalty, on a wheel of eight buckets of 1 ms. */

#define SPOKES 8
#define TICK RT_MS
#define CALLERS 3

struct caller {
    struct rt_task task;
    struct limiter *limiter;
    struct caller *next; /* In its bucket. */
    struct rt_slot slot;
    uint32_t rounds;
    uint64_t penalty; /* In ticks. */
    uint64_t until;   /* The tick. */
    bool waits;
    bool free;
};

struct limiter {
    bool fixed;
    struct rt_task wheel;
    struct rt_sleep nap;
    struct caller *buckets[SPOKES];
    struct caller callers[CALLERS];
    uint64_t tick;
    uint32_t at;
    uint32_t left;
};

static void
insert(struct limiter *limiter, struct caller *caller, uint64_t ticks)
{
    struct caller **bucket = &limiter->buckets[(limiter->tick + ticks) % SPOKES];
    if (limiter->fixed) {
        caller->rounds = (uint32_t)(ticks - 1) / SPOKES;
    } else {
        caller->rounds = (uint32_t)ticks / SPOKES;
    }
    caller->next = *bucket;
    *bucket = caller;
}

static void
advance(struct limiter *limiter)
{
    struct caller **link = &limiter->buckets[++limiter->tick % SPOKES];
    while (*link != NULL) {
        struct caller *caller = *link;
        if (caller->rounds > 0) {
            caller->rounds--;
            link = &caller->next;
            continue;
        }
        *link = caller->next;
        caller->free = true;
        (void)rt_slot_wake(&caller->slot);
    }
}

static rt_poll
wheel_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct limiter *limiter = rt_container_of(task, struct limiter, wheel);
    RT_BEGIN(limiter->at);
    while (limiter->left > 0) {
        rt_sleep_until(&limiter->nap, (limiter->tick + 1) * TICK);
        RT_AWAIT_HERE(limiter->at, rt_sleep_poll(&limiter->nap, cx));
        advance(limiter);
    }
    RT_END(limiter->at);
}

static rt_poll
caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct caller *caller = rt_container_of(task, struct caller, task);
    struct limiter *limiter = caller->limiter;
    if (!caller->waits) {
        caller->waits = true;
        caller->until = limiter->tick + caller->penalty;
        insert(limiter, caller, caller->penalty);
    }
    if (!caller->free) {
        rt_slot_replace(&caller->slot, cx, "the end of its penalty");
        return RT_PENDING;
    }
    SIM_ALWAYS(limiter->tick >= caller->until && limiter->tick <= caller->until + 2);
    limiter->left--;
    return RT_READY;
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[CALLERS] = {"search", "upload", "login"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct limiter *limiter = sim_new(world, struct limiter);
    limiter->fixed = fixed;
    limiter->left = CALLERS;
    rt_task_init(&limiter->wheel, wheel_poll, NULL, "wheel");
    sim_spawn(rt, &limiter->wheel);
    for (uint32_t i = 0; i < CALLERS; i++) {
        struct caller *caller = &limiter->callers[i];
        caller->limiter = limiter;
        caller->penalty = sim_range(world, 1, 20);
        rt_slot_init(&caller->slot);
        rt_task_init(&caller->task, caller_poll, NULL, names[i]);
        sim_spawn(rt, &caller->task);
    }
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_wheel_b, .name = "s15/wheel/broken", .about = "A whole turn takes two.",
        .setup = broken);
SIM_SCENARIO(s15_wheel_f, .name = "s15/wheel/fixed", .about = "Rounds are counted right.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
