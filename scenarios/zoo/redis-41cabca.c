/*
 * redis-41cabca.c -- a nested event loop frees the timer that is being called.
 *
 * redis/redis commit 41cabca.
 *
 * The bug. Deleting a timer only marks it; the next pass over the timers takes it out and frees it.
 * A timer's procedure may run the event loop, to serve clients during a long operation. If the
 * timer is deleted meanwhile, the inner pass frees it; then the procedure returns, and the outer
 * pass writes the timer's next time into it, and continues with its neighbour.
 *
 * The fix. Calls of a timer in progress are counted, and no pass frees it until they return: pass
 * below.
 *
 * Here. A timer loads a large file in pieces, and serves clients between them. One of them may ask
 * for the timer's deletion, before, during or after the load. Freed memory is overwritten here, as
 * by a poisoning allocator.
 *
 * Cause: not-a-wake in pass or timer_call
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define FREED 0x5a
#define NOMORE (-1)
#define PIECES 4u

/* ---- Timers, as in redis' ae.c. -------------------------------------------------------------- */

struct state;

struct timer {
    int64_t (*procedure)(struct state *state); /* Milliseconds until the next call, or NOMORE. */
    uint64_t when_ns;
    bool deleted;
    uint32_t calls; /* In progress. */
    struct timer *next;
};

struct state {
    struct sim_world *world;
    struct timer *timers;
    struct timer *load;
    struct sim_source *command; /* "Delete that timer." */
    uint32_t answered;
    uint32_t beats;
    bool broken;
};

static void
timer_free(struct timer *timer)
{
    memset(timer, FREED, sizeof(*timer));
}

static void
timer_call(struct state *state, struct timer *timer)
{
    timer->calls++;
    int64_t again_ms = timer->procedure(state);
    timer->calls--;
    if (again_ms == NOMORE) {
        timer->deleted = true;
    } else {
        timer->when_ns = sim_now(state->world) + (uint64_t)again_ms * RT_MS;
    }
}

static void
pass(struct state *state)
{
    struct timer **link = &state->timers;
    while (*link != NULL) {
        struct timer *timer = *link;
        if (timer->deleted && (state->broken || timer->calls == 0)) {
            *link = timer->next;
            timer_free(timer);
            continue;
        }
        if (!timer->deleted && timer->calls == 0 && timer->when_ns <= sim_now(state->world)) {
            timer_call(state, timer);
        }
        link = &timer->next;
    }
}

static void
process_events(struct state *state)
{
    if (sim_source_take(state->command) == RT_OK) {
        state->answered++;
        if (state->load != NULL) {
            state->load->deleted = true;
            state->load = NULL;
        }
    }
    pass(state);
}

/* ---- The server. ----------------------------------------------------------------------------- */

static int64_t
load(struct state *state)
{
    for (uint32_t i = 0; i < PIECES; i++) {
        sim_sleep(state->world, RT_MS);
        process_events(state);
    }
    state->load = NULL;
    return NOMORE;
}

static int64_t
heartbeat(struct state *state)
{
    return ++state->beats < 5 ? 3 : NOMORE;
}

static void
timer_add(struct state *state, uint64_t delay_ns, int64_t (*procedure)(struct state *state))
{
    struct timer *timer = sim_new(state->world, struct timer);
    timer->procedure = procedure;
    timer->when_ns = sim_now(state->world) + delay_ns;
    timer->next = state->timers;
    state->timers = timer;
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    timer_add(state, RT_MS, heartbeat);
    timer_add(state, 2 * RT_MS, load);
    state->load = state->timers;
    while (state->timers != NULL || state->answered == 0) {
        sim_sleep(world, RT_MS);
        process_events(state);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    *state = (struct state){.world = world, .broken = broken};
    state->command = sim_source_new(sim_host_new(world, NULL, SIM_PROFILE_FD), "command");
    sim_source_event_in(state->command, 0, 20 * RT_MS);
    (void)sim_loop_new(world, "server", server_main, state);
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

SIM_SCENARIO(zoo_redis_41cabca_broken, .name = "zoo/redis-41cabca/broken", .bug = "E15",
        .reference = "redis/redis 41cabca",
        .about = "A pass inside a timer's procedure frees the timer.", .setup = setup_broken,
        .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_redis_41cabca_fixed, .name = "zoo/redis-41cabca/fixed",
        .about = "A timer that is being called is not freed.", .setup = setup_fixed);
