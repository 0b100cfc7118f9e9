/*
 * seastar-902d5b2.c -- a timer's callback deletes the object that contains the timer.
 *
 * scylladb/seastar commit 902d5b2.
 *
 * The bug. When a timer expires its callback is called, and a periodic timer is armed again
 * afterwards. A callback may delete the object that contains the timer; then freed memory is armed.
 *
 * The fix. The timer is armed again first, and not touched after its callback: timers_fire below.
 * Deleting an object removes its timer.
 *
 * Here. A session has a periodic timer that checks whether its peer is active, and deletes the
 * session if it is not. A peer that says goodbye has the session deleted from outside, and all is
 * well. Freed memory is overwritten here, as by a poisoning allocator.
 *
 * Cause: not-a-wake in timer_arm or timers_fire
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define FREED 0x5a
#define PERIOD_NS (2 * RT_MS)

struct timers;

struct timer {
    struct timers *timers;
    void (*callback)(struct timer *timer);
    uint64_t deadline_ns;
    uint64_t period_ns;
};

/* A queue of timers with space for one. */
struct timers {
    struct timer *armed;
    uint64_t armings;
};

struct session {
    struct timer idle;
    struct timers *timers;
    bool heard; /* Data has arrived since the last check. */
};

struct state {
    struct timers timers;
    struct session *session;
    uint64_t words; /* The number of messages before the peer leaves. */
    bool polite;    /* It says goodbye. */
    bool broken;
};

static void
timer_arm(struct timer *timer, uint64_t deadline_ns)
{
    timer->deadline_ns = deadline_ns;
    timer->timers->armed = timer;
    timer->timers->armings++;
}

static void
timers_fire(struct state *state, struct timer *timer)
{
    uint64_t next_ns = timer->deadline_ns + timer->period_ns;
    state->timers.armed = NULL;
    if (!state->broken) {
        timer_arm(timer, next_ns);
    }
    timer->callback(timer);
    if (state->broken) {
        timer_arm(timer, next_ns);
    }
}

static void
session_delete(struct state *state)
{
    struct session *session = state->session;
    session->timers->armed = NULL;
    state->session = NULL;
    memset(session, FREED, sizeof(*session));
}

static void
check_peer(struct timer *timer)
{
    struct session *session = rt_container_of(timer, struct session, idle);
    struct state *state = rt_container_of(session->timers, struct state, timers);
    if (!session->heard) {
        session_delete(state);
        return;
    }
    session->heard = false;
}

static void
reactor_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (state->timers.armed != NULL) {
        struct timer *timer = state->timers.armed;
        if (timer->deadline_ns <= sim_now(world)) {
            timers_fire(state, timer);
        } else {
            sim_sleep(world, RT_MS);
        }
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint64_t i = 0; i < state->words && state->session != NULL; i++) {
        state->session->heard = true;
        sim_sleep(world, RT_MS);
    }
    if (state->polite && state->session != NULL) {
        session_delete(state);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct session *session = sim_new(world, struct session);
    state->broken = broken;
    state->session = session;
    state->polite = sim_pick(world, 2) == 0;
    state->words = sim_range(world, 3, 12);
    session->timers = &state->timers;
    session->heard = true;
    session->idle = (struct timer){
            .timers = &state->timers, .callback = check_peer, .period_ns = PERIOD_NS};
    timer_arm(&session->idle, PERIOD_NS);
    (void)sim_loop_new(world, "reactor", reactor_main, state);
    (void)sim_loop_new(world, "peer", peer_main, state);
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

SIM_SCENARIO(zoo_seastar_902d5b2_broken, .name = "zoo/seastar-902d5b2/broken", .bug = "G10",
        .reference = "scylladb/seastar 902d5b2",
        .about = "A periodic timer is armed again after its callback has deleted it.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_seastar_902d5b2_fixed, .name = "zoo/seastar-902d5b2/fixed",
        .about = "A periodic timer is armed again before its callback.", .setup = setup_fixed);
