/* Leases of a device that tasks share: a release hands the lease to the first that waits, some of which
 * wait only for a while.
 * Cause: user_poll() line 79: a user whose patience has ended leaves without a look at `granted`, so a lease
 * that was handed to it at the same time is lost; repair: take what was granted first. */
#include <sim/rewake.h>

struct pool {
    unsigned free;
    struct rt_list waiting;
    unsigned served;
    bool fixed;
};

enum phase { ARRIVE, ASK, WAIT, WORK };

struct user {
    struct rt_task task;
    struct pool *pool;
    enum phase phase;
    struct rt_list link;
    struct rt_slot slot;
    bool granted;
    bool impatient;
    bool gave_up;
    struct rt_sleep arrival;
    struct rt_sleep patience;
    struct rt_sleep work;
};

static void
pool_release(struct pool *pool)
{
    struct rt_list *first = rt_list_pop_front(&pool->waiting);
    if (first == NULL) {
        pool->free++;
        return;
    }
    struct user *user = rt_container_of(first, struct user, link);
    user->granted = true;
    rt_slot_wake(&user->slot);
}

static bool
out_of_patience(struct user *user, struct rt_cx *cx)
{
    return user->impatient && rt_sleep_poll(&user->patience, cx) == RT_READY;
}

static void
user_leave(struct user *user)
{
    rt_list_unlink(&user->link);
    rt_slot_clear(&user->slot);
    user->gave_up = true;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct pool *pool = user->pool;
    switch (user->phase) {
    case ARRIVE:
        RT_AWAIT(rt_sleep_poll(&user->arrival, cx));
        user->phase = ASK;
        /* Fall through. */
    case ASK:
        if (pool->free > 0) {
            pool->free--;
            user->phase = WORK;
            return user_poll(task, cx);
        }
        rt_list_push_back(&pool->waiting, &user->link);
        user->phase = WAIT;
        /* Fall through. */
    case WAIT:
        if (pool->fixed && user->granted) {
            rt_sleep_cancel(&user->patience);
        } else if (out_of_patience(user, cx)) {
            user_leave(user);
            return RT_READY;
        } else if (!user->granted) {
            rt_slot_replace(&user->slot, cx, "a lease");
            return RT_PENDING;
        } else {
            rt_sleep_cancel(&user->patience);
        }
        user->phase = WORK;
        /* Fall through. */
    case WORK:
        RT_AWAIT(rt_sleep_poll(&user->work, cx));
        pool->served++;
        pool_release(pool);
    }
    return RT_READY;
}

static void
spawn(struct sim_world *world, struct sim_rt *rt, struct pool *pool, const char *name,
        bool impatient)
{
    struct user *user = sim_new(world, struct user);
    user->pool = pool;
    user->impatient = impatient;
    rt_list_init(&user->link);
    rt_slot_init(&user->slot);
    rt_sleep_init(&user->arrival, sim_range(world, 0, 1 * RT_MS));
    rt_sleep_init(&user->patience, sim_range(world, 2 * RT_MS, 5 * RT_MS));
    rt_sleep_init(&user->work, sim_range(world, 1 * RT_MS, 4 * RT_MS));
    rt_task_init(&user->task, user_poll, NULL, name);
    sim_spawn(rt, &user->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    pool->free = 1;
    pool->fixed = fixed;
    rt_list_init(&pool->waiting);
    spawn(world, rt, pool, "scan", false);
    spawn(world, rt, pool, "preview", true);
    spawn(world, rt, pool, "calibrate", false);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_lease/broken", .about = "Leases with patience, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP,
        .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s13_lease/fixed", .about = "Leases with patience.",
        .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
