/*
 * seastar-902d5b2.c -- a timer's callback deletes the object that the timer is part of.
 *
 * scylladb/seastar commit 902d5b2.
 *
 * The bug. When a timer comes due its callback is called, and a periodic one is armed again
 * afterwards. A callback may delete the object in which the timer lies; then it is armed out of
 * freed memory.
 *
 * The fix. The timer is armed again first, and not touched after its callback: timers_fire below.
 * An object that is deleted takes its timer out.
 *
 * Here. A session has a periodic timer that looks whether its peer still says something, and
 * deletes the session when it does not. A peer that goes away properly has the session deleted from
 * outside, and all is well. What is freed is overwritten here, as by an allocator that marks what
 * is free.
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

/* A queue of timers that has room for one. */
struct timers {
    struct timer *armed;
    uint64_t armings;
};

struct session {
    struct timer idle;
    struct timers *timers;
    bool heard; /* Something, since the last look. */
};

struct story {
    struct timers timers;
    struct session *session;
    uint64_t words; /* So many the peer says before it goes. */
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
timers_fire(struct story *story, struct timer *timer)
{
    uint64_t next_ns = timer->deadline_ns + timer->period_ns;
    story->timers.armed = NULL;
    if (!story->broken) {
        timer_arm(timer, next_ns);
    }
    timer->callback(timer);
    if (story->broken) {
        timer_arm(timer, next_ns);
    }
}

static void
session_delete(struct story *story)
{
    struct session *session = story->session;
    session->timers->armed = NULL;
    story->session = NULL;
    memset(session, FREED, sizeof(*session));
}

static void
look_for_life(struct timer *timer)
{
    struct session *session = rt_container_of(timer, struct session, idle);
    struct story *story = rt_container_of(session->timers, struct story, timers);
    if (!session->heard) {
        session_delete(story);
        return;
    }
    session->heard = false;
}

static void
reactor_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    while (story->timers.armed != NULL) {
        struct timer *timer = story->timers.armed;
        if (timer->deadline_ns <= sim_now(world)) {
            timers_fire(story, timer);
        } else {
            sim_sleep(world, RT_MS);
        }
    }
}

static void
peer_main(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    for (uint64_t i = 0; i < story->words && story->session != NULL; i++) {
        story->session->heard = true;
        sim_sleep(world, RT_MS);
    }
    if (story->polite && story->session != NULL) {
        session_delete(story);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct story *story = sim_new(world, struct story);
    struct session *session = sim_new(world, struct session);
    story->broken = broken;
    story->session = session;
    story->polite = sim_pick(world, 2) == 0;
    story->words = sim_range(world, 3, 12);
    session->timers = &story->timers;
    session->heard = true;
    session->idle = (struct timer){
            .timers = &story->timers, .callback = look_for_life, .period_ns = PERIOD_NS};
    timer_arm(&session->idle, PERIOD_NS);
    (void)sim_loop_new(world, "reactor", reactor_main, story);
    (void)sim_loop_new(world, "peer", peer_main, story);
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
