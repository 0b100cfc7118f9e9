/*
 * async-io-07b6cca.c -- a timer wakes the task that polled it first, not the one that polled it
 * last.
 *
 * smol-rs/async-io, commit 07b6cca "Always use the last waker when polling a Timer";
 * smol-rs/smol#167 has a test.
 *
 * The bug. The timer registers the waker of its first poll only: later polls see that it is
 * registered and keep the old waker. A timer that moves to another task after its first poll wakes
 * its first owner, and the new owner sleeps forever (W11).
 *
 * The fix. Each poll stores the waker. async-io-07b6cca.patch removes that from
 * runtime/time/sleep.c: the line that stores moves under the `if` that starts the timer.
 *
 * Here. The owner polls its timer while it waits for a request; the taker requests the timer, gets
 * it, and waits for it or for a stop. If the taker asks before the owner's first poll, the timer
 * moves unregistered and all is well: the order of the two first polls decides. The wait for the
 * stop gives the taker a second waker; without it the runtime reports a task without a waker
 * (T12).
 *
 * Cause: never-stored in wait or taker_poll
 * Must end in: lost-wakeup of the taker. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct taker {
    struct rt_task task;
    struct rt_slot handed; /* Waits for `timer` to be set. */
    struct rt_slot stop;   /* Never fired. */
    struct rt_sleep *timer;
    struct owner *owner;
};

struct owner {
    struct rt_task task;
    struct rt_slot asked;
    bool was_asked;
    bool has_given;
    bool rang; /* It fired before it was given away: nothing is left to wait for. */
    struct rt_sleep timer;
    struct taker *taker;
};

static void
ask(struct owner *owner)
{
    owner->was_asked = true;
    rt_slot_wake(&owner->asked);
}

static void
give(struct owner *owner)
{
    owner->has_given = true;
    owner->taker->timer = &owner->timer;
    rt_slot_wake(&owner->taker->handed);
}

static rt_poll
owner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct owner *owner = rt_container_of(task, struct owner, task);
    if (!owner->was_asked) {
        rt_slot_replace(&owner->asked, cx, "a request for the timer");
        if (!owner->rang) {
            owner->rang = rt_sleep_poll(&owner->timer, cx) == RT_READY;
        }
        return RT_PENDING;
    }
    if (!owner->has_given) {
        give(owner);
    }
    return rt_task_join(&owner->taker->task, cx);
}

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct taker *taker = rt_container_of(task, struct taker, task);
    if (taker->timer == NULL) {
        rt_slot_replace(&taker->handed, cx, "the timer");
        if (!taker->owner->was_asked) {
            ask(taker->owner);
        }
        return RT_PENDING;
    }
    if (taker->owner->rang) {
        return RT_READY;
    }
    rt_slot_replace(&taker->stop, cx, "a stop");
    return rt_sleep_poll(taker->timer, cx);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct owner *owner = sim_new(world, struct owner);
    struct taker *taker = sim_new(world, struct taker);
    owner->taker = taker;
    taker->owner = owner;
    rt_slot_init(&owner->asked);
    rt_slot_init(&taker->handed);
    rt_slot_init(&taker->stop);
    rt_sleep_init(&owner->timer, 10 * RT_MS);
    rt_task_init(&taker->task, taker_poll, NULL, "taker");
    rt_task_init(&owner->task, owner_poll, NULL, "owner");
    sim_spawn(rt, &taker->task);
    sim_spawn(rt, &owner->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_async_io_07b6cca_broken, .name = "zoo/async-io-07b6cca/broken", .bug = "A05",
        .reference = "smol-rs/async-io 07b6cca",
        .about = "A timer that moves to another task wakes the one that polled it first.",
        .setup = setup, .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_async_io_07b6cca_fixed, .name = "zoo/async-io-07b6cca/fixed",
        .about = "A timer that moves to another task wakes the one that polled it last.",
        .setup = setup);
#endif
