/*
 * once.c -- a value that the first user makes, while the others wait; making it may be cancelled.
 *
 * The user that finds the value unmade makes it. If its task is cancelled meanwhile, its cleanup
 * marks the value unmade again and wakes all that wait, and the first of them to be polled starts
 * over. The impatient owner cancels the first user after a while, wherever that is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define USERS 3u

enum once_state { ONCE_UNMADE, ONCE_MAKING, ONCE_MADE };

struct once {
    enum once_state state;
    struct rt_wait_queue waiting;
    struct rt_wait_queue_entry entries[USERS];
    uint32_t made;
};

struct user {
    struct rt_task task;
    struct sim_world *world;
    struct once *once;
    struct rt_sleep making;
    bool makes;
};

struct owner {
    struct rt_task task;
    struct rt_task *cancels;
    struct rt_sleep patience;
};

static void
once_end_making(struct user *user, enum once_state state)
{
    user->makes = false;
    user->once->state = state;
    rt_wait_queue_wake(&user->once->waiting, UINT32_MAX);
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct once *once = user->once;
    if (once->state == ONCE_UNMADE) {
        once->state = ONCE_MAKING;
        user->makes = true;
        rt_sleep_init(&user->making, sim_range(user->world, RT_MS, 3 * RT_MS));
    }
    if (user->makes) {
        RT_AWAIT(rt_sleep_poll(&user->making, cx));
        once->made++;
        once_end_making(user, ONCE_MADE);
    }
    if (once->state == ONCE_MAKING) {
        SIM_ALWAYS(rt_wait_queue_store(&once->waiting, cx, "the value") == RT_OK);
        return RT_PENDING;
    }
    SIM_ALWAYS(once->made == 1);
    return RT_READY;
}

static void
user_cleanup(struct rt_task *task)
{
    struct user *user = rt_container_of(task, struct user, task);
    rt_sleep_cancel(&user->making);
    if (user->makes) {
        once_end_making(user, ONCE_UNMADE);
    }
}

static rt_poll
owner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct owner *owner = rt_container_of(task, struct owner, task);
    RT_AWAIT(rt_sleep_poll(&owner->patience, cx));
    rt_task_cancel(owner->cancels);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[USERS] = {"first", "second", "third"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct once *once = sim_new(world, struct once);
    struct owner *owner = sim_new(world, struct owner);
    rt_wait_queue_init(&once->waiting, once->entries, USERS);
    for (uint32_t i = 0; i < USERS; i++) {
        struct user *user = sim_new(world, struct user);
        user->world = world;
        user->once = once;
        rt_sleep_init(&user->making, 0);
        rt_task_init(&user->task, user_poll, user_cleanup, names[i]);
        sim_spawn(rt, &user->task);
        owner->cancels = i == 0 ? &user->task : owner->cancels;
    }
    rt_sleep_init(&owner->patience, sim_range(world, 0, 4 * RT_MS));
    rt_task_init(&owner->task, owner_poll, NULL, "owner");
    sim_spawn(rt, &owner->task);
}

SIM_SCENARIO(correct_once, .name = "correct/once",
        .about = "A value that is made once, also when its maker is cancelled.", .setup = setup);
