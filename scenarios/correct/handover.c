/*
 * handover.c -- a semaphore by hand that hands its permits over in the order of asking.
 *
 * A release gives the permit to the first that waits, by a mark in its waiter, and only where no
 * one waits does it become free. So a later task cannot take it in between, and the wake is not a
 * hint: the mark says that the permit is there. One of the users has little patience and cancels
 * its wait. It checks its mark first: with a permit it stays, and without one it leaves the line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define USERS 4u
#define PERMITS 2u
#define TURNS 2u

struct semaphore {
    struct rt_list line;
    uint32_t free;
    uint32_t held;
};

struct user {
    struct rt_task task;
    struct sim_world *world;
    struct semaphore *semaphore;
    struct rt_list link;
    struct rt_slot slot;
    struct rt_sleep sleep;
    struct rt_sleep patience;
    bool waiting;
    bool granted;
    bool gave_up;
    bool hasty;
    uint32_t turn;
    uint32_t at;
};

static void
semaphore_release(struct semaphore *semaphore)
{
    struct rt_list *link = rt_list_pop_front(&semaphore->line);
    if (link == NULL) {
        semaphore->free++;
        return;
    }
    struct user *user = rt_container_of(link, struct user, link);
    user->granted = true;
    rt_slot_wake(&user->slot);
}

static void
user_wait(struct user *user)
{
    struct semaphore *semaphore = user->semaphore;
    user->waiting = true;
    user->granted = semaphore->free > 0;
    user->gave_up = false;
    if (user->granted) {
        semaphore->free--;
    } else {
        rt_list_push_back(&semaphore->line, &user->link);
    }
    rt_sleep_init(&user->patience, user->hasty ? RT_MS : RT_NEVER);
}

/* READY with a permit, or with the wait cancelled. */
static rt_poll
user_acquire(struct user *user, struct rt_cx *cx)
{
    if (!user->waiting) {
        user_wait(user);
    }
    if (!user->granted) {
        rt_slot_replace(&user->slot, cx, "a permit");
        RT_AWAIT(rt_sleep_poll(&user->patience, cx));
        rt_list_unlink(&user->link);
        rt_slot_clear(&user->slot);
        user->gave_up = true;
    }
    rt_sleep_cancel(&user->patience);
    user->waiting = false;
    return RT_READY;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct semaphore *semaphore = user->semaphore;
    RT_BEGIN(user->at);
    for (user->turn = 0; user->turn < TURNS; user->turn++) {
        RT_AWAIT_HERE(user->at, user_acquire(user, cx));
        if (user->gave_up) {
            continue;
        }
        SIM_ALWAYS(++semaphore->held <= PERMITS);
        rt_sleep_init(&user->sleep, sim_range(user->world, 0, 2 * RT_MS));
        RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
        semaphore->held--;
        semaphore_release(semaphore);
    }
    RT_END(user->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[USERS] = {"anna", "bert", "carl", "hasty"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct semaphore *semaphore = sim_new(world, struct semaphore);
    rt_list_init(&semaphore->line);
    semaphore->free = PERMITS;
    for (uint32_t i = 0; i < USERS; i++) {
        struct user *user = sim_new(world, struct user);
        user->world = world;
        user->semaphore = semaphore;
        user->hasty = i == USERS - 1;
        rt_list_init(&user->link);
        rt_slot_init(&user->slot);
        rt_task_init(&user->task, user_poll, NULL, names[i]);
        sim_spawn(rt, &user->task);
    }
}

SIM_SCENARIO(correct_handover, .name = "correct/handover",
        .about = "A semaphore that hands its permits over, and a user that cancels its wait.",
        .setup = setup);
