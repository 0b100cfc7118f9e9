/* Cause: check_out(), line 83: the hook is freed, but the timer that was started for its coat goes on; when the hook has been given to the next visitor it rings for that one's coat, which is taken away long before its time; repair: stop the timer in check_out(). */
/*
 * A cloakroom with its own timers on a loop. A coat that hangs for longer than LIMIT is taken to
 * the lost-property office.
 */
#include <sim/rewake.h>

#define HOOKS 2
#define TIMERS 8
#define VISITS 3
#define LIMIT (10 * RT_MS)

struct timer {
    uint64_t due;
    uint32_t hook;
    bool running;
};

struct hook {
    uint64_t since;
    struct timer *timer;
    bool taken;
};

struct cloakroom {
    struct rt_host *host;
    struct sim_source *bell; /* A visitor stands at the counter. */
    struct rt_pollable at_counter;
    struct timer timers[TIMERS];
    struct hook hooks[HOOKS];
    uint32_t visitor; /* Even ones bring their coat, the odd one after that fetches it. */
    uint32_t hook;    /* Where the coat of the last visitor hangs. */
    uint32_t lost;
    bool fixed;
};

static struct timer *
timer_start(struct cloakroom *room, uint64_t due, uint32_t hook)
{
    uint32_t i = 0;
    while (room->timers[i].running) {
        i++;
    }
    room->timers[i] = (struct timer){due, hook, true};
    return &room->timers[i];
}

static void
timer_stop(struct timer *timer)
{
    timer->running = false;
}

static uint64_t
timers_next(const struct cloakroom *room)
{
    uint64_t next = RT_NEVER;
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (room->timers[i].running && room->timers[i].due < next) {
            next = room->timers[i].due;
        }
    }
    return next;
}

static void
check_in(struct cloakroom *room)
{
    uint32_t i = 0;
    while (i < HOOKS - 1 && room->hooks[i].taken) {
        i++;
    }
    uint64_t now = rt_host_now(room->host);
    room->hook = i;
    room->hooks[i] = (struct hook){now, timer_start(room, now + LIMIT, i), true};
}

static void
check_out(struct cloakroom *room)
{
    struct hook *hook = &room->hooks[room->hook];
    if (hook->taken) {
        hook->taken = false;
        if (room->fixed) {
            timer_stop(hook->timer);
        }
    }
}

/* A coat was forgotten. */
static void
on_limit(struct cloakroom *room, struct hook *hook)
{
    if (hook->taken) {
        SIM_ALWAYS(rt_host_now(room->host) >= hook->since + LIMIT);
        hook->taken = false;
        room->lost++;
    }
}

static void
timers_run(struct cloakroom *room)
{
    uint64_t now = rt_host_now(room->host);
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct timer *timer = &room->timers[i];
        if (timer->running && timer->due <= now) {
            timer_stop(timer);
            on_limit(room, &room->hooks[timer->hook]);
        }
    }
}

static void
room_main(struct sim_world *world, void *argument)
{
    struct cloakroom *room = argument;
    (void)world;
    while (room->visitor < 2 * VISITS) {
        struct rt_pollable until = {0};
        struct rt_pollable *list[] = {&room->at_counter, &until};
        uint32_t ready[2], count = 1;
        uint64_t next = timers_next(room);
        if (next != RT_NEVER) {
            SIM_ALWAYS(rt_subscribe_instant(room->host, next, &until) == RT_OK);
            count = 2;
        }
        SIM_ALWAYS(rt_host_poll(room->host, list, count, ready, &count) == RT_OK);
        rt_pollable_drop(&until);
        timers_run(room);
        while (room->visitor < 2 * VISITS && sim_source_take(room->bell) == RT_OK) {
            if (room->visitor++ % 2 == 0) {
                check_in(room);
            } else {
                check_out(room);
            }
        }
    }
    rt_pollable_drop(&room->at_counter);
}

static void
visitors_main(struct sim_world *world, void *argument)
{
    struct cloakroom *room = argument;
    for (uint32_t i = 0; i < 2 * VISITS; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 6 * RT_MS));
        sim_source_event(room->bell);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct cloakroom *room = sim_new(world, struct cloakroom);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    room->host = sim_host_seam(host);
    room->fixed = fixed;
    room->bell = sim_source_new(host, "the counter");
    SIM_ALWAYS(sim_source_subscribe(room->bell, &room->at_counter) == RT_OK);
    (void)sim_loop_new(world, "cloakroom", room_main, room);
    (void)sim_loop_new(world, "visitors", visitors_main, room);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s17/cloakroom/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/cloakroom/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
