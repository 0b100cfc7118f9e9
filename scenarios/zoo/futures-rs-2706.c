/*
 * futures-rs-2706.c -- a waker is stored during another thread's poll, after all wakers were
 * woken.
 *
 * rust-lang/futures-rs#2706 (futures::Shared; open, a fix is proposed in #2899).
 *
 * The bug. The clones of a shared future poll one inner future: the first clone polls, the others
 * store their wakers and wait. The inner future's wake empties the list of wakers. If it arrives
 * during the poll, a clone may store its waker after the wake and before the poller has set the
 * state back to idle. The poller returns PENDING, and if it is not polled again, no clone is.
 *
 * The fix (as proposed). A wake during the poll is recorded; when the poll has ended, clones that
 * have joined meanwhile are woken under the same lock: leave_polling below. The steps between
 * threads are those of the issue's own example.
 *
 * Here. The example: the inner future yields once. One thread polls its clone once
 * (`now_or_never`), the other one awaits its own.
 *
 * Cause: never-fired in leave_polling or fired-early in wake_all
 * Must end in: deadlock of the thread that awaits. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLONES 2

enum state { IDLE, POLLING, COMPLETE };

struct clone {
    struct sim_loop *thread;
    bool woken;
};

struct shared {
    struct sim_world *world;
    bool broken;
    enum state state;
    bool woken_during_polling;
    struct clone *wakers[CLONES]; /* Stored by waiting clones. */
    uint32_t wakers_count;
    bool gave_way; /* The inner future has yielded. */
    struct clone hasty;
    struct clone patient;
};

/* The inner future's waker, the notifier: wakes all stored wakers. */
static void
wake_all(struct shared *shared)
{
    for (uint32_t i = 0; i < shared->wakers_count; i++) {
        struct clone *clone = shared->wakers[i];
        clone->woken = true;
        if (clone->thread != NULL) {
            sim_loop_wake(clone->thread);
        }
    }
    shared->wakers_count = 0;
    shared->woken_during_polling = shared->state == POLLING;
}

static bool
inner_poll(struct shared *shared)
{
    if (shared->gave_way) {
        return true;
    }
    shared->gave_way = true;
    wake_all(shared);
    return false;
}

/* The inner future is not ready. */
static void
leave_polling(struct shared *shared)
{
    bool again = !shared->broken && shared->woken_during_polling;
    shared->state = IDLE;
    if (again) {
        wake_all(shared);
    }
}

/* True when the shared future is complete. Another thread may run at each pause. */
static bool
shared_poll(struct shared *shared, struct clone *clone)
{
    if (shared->state == COMPLETE) {
        return true;
    }
    shared->wakers[shared->wakers_count++] = clone;
    if (shared->state == POLLING) {
        return false;
    }
    shared->state = POLLING;
    shared->woken_during_polling = false;
    sim_loop_pause(shared->world);
    bool ready = inner_poll(shared);
    sim_loop_pause(shared->world);
    if (!ready) {
        leave_polling(shared);
        return false;
    }
    shared->state = COMPLETE;
    wake_all(shared);
    return true;
}

static void
hasty_main(struct sim_world *world, void *argument)
{
    struct shared *shared = argument;
    (void)world;
    (void)shared_poll(shared, &shared->hasty);
}

static void
patient_main(struct sim_world *world, void *argument)
{
    struct shared *shared = argument;
    struct clone *clone = &shared->patient;
    sim_sleep(world, sim_pick(world, 2) == 0 ? RT_MS : 0);
    clone->thread = sim_loop_current(world);
    while (!shared_poll(shared, clone)) {
        while (!clone->woken) {
            sim_loop_block(world, 0, "the shared future", RT_HERE);
        }
        clone->woken = false;
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct shared *shared = sim_new(world, struct shared);
    shared->world = world;
    shared->broken = broken;
    (void)sim_loop_new(world, "hasty", hasty_main, shared);
    (void)sim_loop_new(world, "patient", patient_main, shared);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_futures_rs_2706_broken, .name = "zoo/futures-rs-2706/broken", .bug = "A03",
        .reference = "rust-lang/futures-rs#2706",
        .about = "A shared future loses a clone that joins after its wake, during its poll.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_futures_rs_2706_fixed, .name = "zoo/futures-rs-2706/fixed",
        .about = "A shared future wakes the clones that joined during a poll that was woken.",
        .setup = setup_fixed);
