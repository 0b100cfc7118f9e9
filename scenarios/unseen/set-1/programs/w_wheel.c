/*
 * w_wheel.c -- A hashed timer wheel of eight slots of 1 ms. The loop sleeps until the next slot
 * that holds a timer.
 *
 * Cause: next_expiry() looks only at the slots from the cursor to the end of the array and does
 * not wrap around, so with all timers in slots behind the cursor the loop sleeps forever.
 * Where: next_expiry
 * Kind: deadline of the timer wheel missed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SLOTS 8
#define SESSIONS 3

static bool fixed;

struct session {
    uint64_t due_tick; /* 0: not in the wheel. */
    uint32_t heartbeats;
    bool ended;
};

struct wheel {
    struct sim_world *world;
    struct sim_fds *os;
    struct session sessions[SESSIONS];
    uint64_t tick;
    uint64_t period[SESSIONS];
};

static void
wheel_add(struct wheel *wheel, struct session *session, uint64_t ticks)
{
    session->due_tick = wheel->tick + ticks;
}

static bool
slot_used(const struct wheel *wheel, uint64_t tick)
{
    for (int i = 0; i < SESSIONS; i++) {
        const struct session *session = &wheel->sessions[i];
        if (session->due_tick != 0 && session->due_tick % SLOTS == tick % SLOTS) {
            return true;
        }
    }
    return false;
}

/* The next tick whose slot holds a timer; SIM_NEVER: none. */
static uint64_t
next_expiry(const struct wheel *wheel)
{
    uint64_t n = fixed ? SLOTS : SLOTS - 1 - wheel->tick % SLOTS; /* Where. */
    for (uint64_t i = 1; i <= n; i++) {
        if (slot_used(wheel, wheel->tick + i)) {
            return wheel->tick + i;
        }
    }
    return SIM_NEVER;
}

static void
session_timer(struct wheel *wheel, struct session *session)
{
    if (session->due_tick > sim_now(wheel->world) / RT_MS) {
        return;
    }
    session->due_tick = 0;
    session->heartbeats++;
    SIM_PROGRESS();
    if (session->heartbeats < 4) {
        wheel_add(wheel, session, wheel->period[session - wheel->sessions]);
    } else {
        session->ended = true;
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    struct sim_fd_event event;
    for (;;) {
        wheel->tick = sim_now(world) / RT_MS;
        bool left = false;
        for (int i = 0; i < SESSIONS; i++) {
            struct session *session = &wheel->sessions[i];
            if (session->due_tick != 0 && session->due_tick <= wheel->tick) {
                session_timer(wheel, session);
            }
            left |= !session->ended;
        }
        if (!left) {
            break;
        }
        uint64_t next = next_expiry(wheel);
        uint64_t now = sim_now(world);
        sim_fd_wait(wheel->os, &event, 1,
                next == SIM_NEVER    ? SIM_NEVER
                : next * RT_MS > now ? next * RT_MS - now
                                     : 0);
    }
}

static void
setup(struct sim_world *world)
{
    struct wheel *wheel = sim_new(world, struct wheel);
    int eventfd;
    wheel->world = world;
    wheel->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(wheel->os, "wake", &eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(wheel->os, eventfd, SIM_FD_IN, 0) == RT_OK);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        wheel->period[i] = sim_range(world, 2, 7);
        wheel_add(wheel, &wheel->sessions[i], wheel->period[i]);
    }
    sim_loop_new(world, "loop", loop_main, wheel);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/w-wheel/broken", .about = "A hashed timer wheel.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-wheel/fixed", .about = "A hashed timer wheel.",
        .setup = setup_fixed);
