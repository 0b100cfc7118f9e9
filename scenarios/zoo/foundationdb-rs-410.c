/*
 * foundationdb-rs-410.c -- a simulation's executor polls inside the wake.
 *
 * foundationdb-rs/foundationdb-rs#410.
 *
 * The bug. A simulation has one thread, so its executor polls the task inside the wake. A shared
 * future holds its mutex while it wakes its waiters; the first one that is polled there asks the
 * shared future for its value, which takes the mutex.
 *
 * The fix. A wake puts the task into a queue, which is polled after the waking code has returned:
 * executor_wake below.
 *
 * Here. Two transactions share one future, a version of the database. A transaction that asks
 * after it is complete does not wait, and all is well. One that waited is polled under the mutex.
 *
 * Cause: not-a-wake in executor_wake or never-fired in shared_complete or lock_release
 * Must end in: deadlock of the simulation's thread. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scenarios/zoo/lock.h"
#include "sim/rewake.h"

#define TRANSACTIONS 2u

struct transaction {
    bool waits; /* In the shared future's list. */
    bool queued;
    bool done;
    uint64_t begins_ns;
};

struct state {
    struct sim_world *world;
    struct lock mutex; /* Of the shared future. */
    bool complete;
    struct transaction transactions[TRANSACTIONS];
    uint64_t version_ns;
    bool broken;
};

/* Polls the shared future for one transaction. */
static void
transaction_poll(struct state *state, struct transaction *transaction)
{
    lock_take(&state->mutex);
    transaction->waits = !state->complete;
    transaction->done = state->complete;
    lock_release(&state->mutex);
}

static void
executor_wake(struct state *state, struct transaction *transaction)
{
    if (state->broken) {
        transaction_poll(state, transaction);
    } else {
        transaction->queued = true;
    }
}

static void
executor_run(struct state *state)
{
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        struct transaction *transaction = &state->transactions[i];
        if (transaction->queued) {
            transaction->queued = false;
            transaction_poll(state, transaction);
        }
    }
}

static void
shared_complete(struct state *state)
{
    lock_take(&state->mutex);
    state->complete = true;
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        if (state->transactions[i].waits) {
            executor_wake(state, &state->transactions[i]);
        }
    }
    lock_release(&state->mutex);
}

static bool
all_done(const struct state *state)
{
    bool done = true;
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        done = done && state->transactions[i].done;
    }
    return done;
}

/* Runs the events of the simulation that are due. */
static void
begin_transactions(struct state *state)
{
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        struct transaction *transaction = &state->transactions[i];
        if (transaction->begins_ns <= sim_now(state->world) && !transaction->waits) {
            transaction->queued = !transaction->done;
        }
    }
}

static void
simulation_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (!all_done(state)) {
        begin_transactions(state);
        executor_run(state);
        if (!state->complete && state->version_ns <= sim_now(world)) {
            shared_complete(state);
        }
        executor_run(state);
        sim_sleep(world, RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->mutex = (struct lock){.world = world, .name = "the shared future's mutex"};
    state->broken = broken;
    state->version_ns = sim_range(world, 0, 6 * RT_MS);
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        state->transactions[i].begins_ns = 8 * RT_MS - sim_range(world, 0, 8 * RT_MS);
    }
    (void)sim_loop_new(world, "simulation", simulation_main, state);
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

SIM_SCENARIO(zoo_foundationdb_rs_410_broken, .name = "zoo/foundationdb-rs-410/broken", .bug = "I02",
        .reference = "foundationdb-rs/foundationdb-rs#410",
        .about = "A wake polls at once, under the waking side's mutex.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_foundationdb_rs_410_fixed, .name = "zoo/foundationdb-rs-410/fixed",
        .about = "A wake puts the task into a queue, which is polled later.", .setup = setup_fixed);
