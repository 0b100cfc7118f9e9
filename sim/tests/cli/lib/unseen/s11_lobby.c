/*
 * s11_lobby.c -- sessions with idle times on a wheel of eight places, one for each millisecond; a
 * place has the timers of this round and of later ones. The loop sleeps until the next is due.
 *
 * Cause: wheel_next() (line 72) looks at the first timer of a place only, which may be due a round later than another one there
 */
#include <sim/rewake.h>

#define PLACES 8u
#define SESSIONS 3
#define TICK RT_MS

struct timer {
    struct timer *next;
    uint64_t tick;
    bool set;
};

struct wheel {
    struct timer *places[PLACES];
    uint64_t tick; /* The last one that was served. */
    bool thorough;
};

struct session {
    const char *name;
    struct timer timer;
    uint64_t idle[2]; /* In ticks. */
    uint32_t step;
    bool woken, closed;
    struct lobby *lobby;
};

struct lobby {
    struct rt_host *host;
    struct wheel wheel;
    struct session sessions[SESSIONS];
    uint32_t open;
};

static void
wheel_add(struct wheel *wheel, struct timer *timer, uint64_t tick)
{
    struct timer **place = &wheel->places[tick % PLACES];
    timer->tick = tick;
    timer->set = true;
    timer->next = *place;
    *place = timer;
}

static void
wheel_remove(struct wheel *wheel, struct timer *timer)
{
    struct timer **at = &wheel->places[timer->tick % PLACES];
    while (timer->set && *at != timer) {
        at = &(*at)->next;
    }
    if (timer->set) {
        *at = timer->next;
        timer->set = false;
    }
}

/* The tick of the next timer; SIM_NEVER: there is none. */
static uint64_t
wheel_next(const struct wheel *wheel)
{
    uint64_t next = SIM_NEVER;
    for (uint32_t i = 0; i < PLACES; i++) {
        for (const struct timer *timer = wheel->places[i]; timer != NULL; timer = timer->next) {
            next = timer->tick < next ? timer->tick : next;
            if (!wheel->thorough) {
                break;
            }
        }
    }
    return next;
}

static void
session_wake(struct session *session)
{
    session->woken = true;
    sim_foreign_fire(&session->timer);
}

static void
wheel_turn(struct lobby *lobby, uint64_t now)
{
    struct wheel *wheel = &lobby->wheel;
    while (wheel->tick < now / TICK) {
        struct timer *timer = wheel->places[++wheel->tick % PLACES];
        while (timer != NULL) {
            struct timer *next = timer->next;
            if (timer->tick <= wheel->tick) {
                wheel_remove(wheel, timer);
                session_wake(rt_container_of(timer, struct session, timer));
            }
            timer = next;
        }
    }
}

static void
session_run(struct session *session)
{
    struct lobby *lobby = session->lobby;
    uint64_t tick = rt_host_now(lobby->host) / TICK;
    session->woken = false;
    sim_foreign_poll(session);
    if (session->step == 0 || tick >= session->timer.tick) {
        wheel_remove(&lobby->wheel, &session->timer);
        if (session->step < 2) {
            wheel_add(&lobby->wheel, &session->timer, tick + session->idle[session->step]);
        }
        session->closed = session->step++ == 2;
        lobby->open -= session->closed;
    }
    if (!session->closed) {
        sim_foreign_store(session, &session->timer, "the end of its idle time");
    }
    sim_foreign_polled(session, session->closed);
}

static void
lobby_sleep(struct lobby *lobby)
{
    struct rt_pollable due, *list[] = {&due};
    uint32_t index, count;
    uint64_t next = wheel_next(&lobby->wheel);
    SIM_ALWAYS(rt_subscribe_instant(lobby->host, next * TICK, &due) == RT_OK);
    SIM_ALWAYS(rt_host_poll(lobby->host, list, 1, &index, &count) == RT_OK);
    rt_pollable_drop(&due);
}

static void
lobby_main(struct sim_world *world, void *argument)
{
    struct lobby *lobby = argument;
    (void)world;
    while (lobby->open > 0) {
        bool any = false;
        for (uint32_t i = 0; i < SESSIONS; i++) {
            if (lobby->sessions[i].woken) {
                session_run(&lobby->sessions[i]);
                any = true;
            }
        }
        if (!any) {
            lobby_sleep(lobby);
        }
        wheel_turn(lobby, rt_host_now(lobby->host));
    }
}

/* Another thread, which prints the visitors' cards. */
static void
printer_main(struct sim_world *world, void *argument)
{
    struct lobby *lobby = argument;
    for (uint32_t i = 0; i < 4 * SESSIONS && lobby->open > 0; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 3 * RT_MS));
    }
}

/* The oracle's question. */
static void
lobby_again(void *lobby, void *session)
{
    (void)lobby;
    session_run(session);
}

static void
setup_with(struct sim_world *world, bool thorough)
{
    static const char *const names[SESSIONS] = {"anna", "ben", "carl"};
    struct lobby *lobby = sim_new(world, struct lobby);
    struct sim_loop *loop = sim_loop_new(world, "lobby", lobby_main, lobby);
    struct sim_foreign *foreign = sim_foreign_new(loop, lobby_again, lobby);
    (void)sim_loop_new(world, "printer", printer_main, lobby);
    lobby->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    lobby->wheel.thorough = thorough;
    lobby->open = SESSIONS;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        struct session *session = &lobby->sessions[i];
        *session = (struct session){.name = names[i], .woken = true, .lobby = lobby};
        session->idle[0] = sim_range(world, 2 + i, 12);
        session->idle[1] = sim_range(world, 3, 14);
        sim_foreign_spawn(foreign, session, names[i]);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(lobby_broken, .name = "s11_lobby/broken", .about = "Idle times on a small wheel.",
        .setup = setup_broken, .slack_ns = TICK);
SIM_SCENARIO(lobby_fixed, .name = "s11_lobby/fixed", .about = "Idle times on a small wheel.",
        .setup = setup_fixed, .slack_ns = TICK);
// SPDX-License-Identifier: Apache-2.0
