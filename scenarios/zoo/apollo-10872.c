/*
 * apollo-10872.c -- a hashed wheel forgets how many rounds a timer has to wait.
 *
 * ApolloAuto/apollo#10872; twitter/rpc-perf#180 is the same.
 *
 * The bug. A wheel of 512 slots serves timers of any length if each timer counts the rounds that
 * it still has to wait. This wheel puts a timer into slot (now + ticks) mod 512 and fires every
 * timer that it finds there. A timer of 600 ticks that is set at tick 200 fires at tick 288, after
 * 88 ticks.
 *
 * The fix. A timer stores its rounds, and each pass over its slot takes one off: wheel_tick below.
 *
 * Here. A client asks servers one after the other and gives each 600 ms to answer. They answer
 * within 500 ms. The client asserts what every user of a timeout relies on: that it does not fire
 * early. In the issue a component that was called every 600 ms noticed.
 *
 * Cause: not-a-wake in client_main or wheel_tick
 * Must end in: invariant, by that assertion. Fails on the baseline run: no, there the answer is
 * faster than the wrong timeout.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SLOTS 512u
#define TICK_NS RT_MS
#define REQUESTS 3u
#define LIMIT_MS 600u

/* ---- The wheel: a slot has space for one timer, which is enough here. ------------------------ */

struct timer {
    uint32_t rounds;
    bool armed;
    bool fired;
    uint32_t slot;
};

struct wheel {
    struct timer *slots[SLOTS];
    uint32_t now; /* Ticks so far. */
    bool broken;
};

static void
wheel_start(struct wheel *wheel, struct timer *timer, uint32_t ticks)
{
    timer->slot = (wheel->now + ticks) % SLOTS;
    timer->rounds = (ticks - 1) / SLOTS;
    timer->armed = true;
    timer->fired = false;
    wheel->slots[timer->slot] = timer;
}

static void
wheel_stop(struct wheel *wheel, struct timer *timer)
{
    if (timer->armed) {
        wheel->slots[timer->slot] = NULL;
        timer->armed = false;
    }
}

static void
wheel_tick(struct wheel *wheel)
{
    wheel->now++;
    struct timer *timer = wheel->slots[wheel->now % SLOTS];
    if (timer == NULL) {
        return;
    }
    if (!wheel->broken && timer->rounds > 0) {
        timer->rounds--;
        return;
    }
    wheel_stop(wheel, timer);
    timer->fired = true;
}

/* ---- The client, and the servers. ------------------------------------------------------------ */

struct state {
    struct wheel wheel;
    struct sim_source *answer;
};

/* The loop: one tick a millisecond; between two ticks it checks for the answer. */
static bool
turn(struct sim_world *world, struct state *state)
{
    sim_sleep(world, TICK_NS);
    wheel_tick(&state->wheel);
    return sim_source_take(state->answer) == RT_OK;
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct timer limit = {0};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint64_t asked_ns = sim_now(world);
        sim_source_event_in(state->answer, 20 * RT_MS, 500 * RT_MS);
        wheel_start(&state->wheel, &limit, LIMIT_MS);
        while (!turn(world, state)) {
            SIM_ALWAYS(!limit.fired || sim_now(world) - asked_ns >= LIMIT_MS * TICK_NS);
        }
        wheel_stop(&state->wheel, &limit);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->wheel.broken = broken;
    state->answer = sim_source_new(sim_host_new(world, NULL, SIM_PROFILE_FD), "answer");
    (void)sim_loop_new(world, "client", client_main, state);
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

SIM_SCENARIO(zoo_apollo_10872_broken, .name = "zoo/apollo-10872/broken", .bug = "E22",
        .reference = "ApolloAuto/apollo#10872",
        .about = "A timer longer than the wheel's round is fired in its first.",
        .setup = setup_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(zoo_apollo_10872_fixed, .name = "zoo/apollo-10872/fixed",
        .about = "A timer longer than the wheel's round waits for its own.", .setup = setup_fixed);
