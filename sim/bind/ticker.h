/*
 * ticker.h -- a game in the simulated world: a loop with periodic ticks.
 *
 *      while update(world, argument):  the game's systems: bodies move, events are posted
 *          a turn of the reactor       the host's reports wake the tasks that wait for them
 *          rt_tick                     timers, events, polls
 *          `period_ns` pass
 *
 * The game is one actor, which the run waits for; activities are actors like all tasks, and one
 * that parks and is marked again is the same actor. The order within a tick is promised by the
 * ticker and not a decision; between two polls of a tick other actors may run. A parked activity
 * gets no spurious poll (G7), but under fault `cancel` it may be cancelled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/tick/ticker.h"
#include "sim/bind/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_ticker_options {
    const char *name;         /* NULL: "game". */
    uint32_t capacity;        /* Activities; 0: 16. There are twice as many executor entries. */
    uint32_t events_capacity; /* Events posted between two ticks; 0: 32. */
    uint64_t period_ns;       /* 0: 10 ms. */
    /* Called before each tick; false: the game is over, and every activity is dropped. */
    bool (*update)(struct sim_world *world, void *argument);
    void *argument;
};

struct sim_ticker;

/* Makes a runtime, its ticker, and the loop. A wake may be late by a few ticks: the scenario's
 * slack is raised to that. Never NULL. */
struct sim_ticker *sim_ticker_new(
        struct sim_world *world, const struct sim_ticker_options *options);

/* Its parts, for the calls of runtime/. */
struct rt_ticker *sim_ticker_ticker(struct sim_ticker *game);
struct sim_rt *sim_ticker_rt(struct sim_ticker *game);

/* rt_spawn; an error ends the run with verdict contract. */
#define sim_ticker_spawn(game, activity) sim_ticker_spawn_at((game), (activity), RT_HERE)
void sim_ticker_spawn_at(
        struct sim_ticker *game, struct rt_activity *activity, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
