// Cause: next_near() looks for the next tick with a timer in the first level only. With nothing there it answers
// SIM_NEVER although timers are in `far`, so wheel_main() sleeps without an instant, never reaches the turn at which
// `far` is moved to `near`, and these timers never fire. The next turn with a far slot that is not empty must be a
// wake-up, too.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A hierarchical timer wheel of two levels, driven by a loop that sleeps until the next slot with
 * something in it. Callers on other threads start timers. */
#include <sim/rewake.h>

#define SLOTS 8u
#define TICK_NS RT_MS
#define TIMERS 3

struct timer {
    struct timer *next;
    uint64_t due; /* In ticks. */
    bool fired;
};

struct wheel {
    struct rt_host *host;
    struct rt_pollable bell;
    struct timer *inbox;
    struct timer *near[SLOTS]; /* One tick each. */
    struct timer *far[SLOTS];  /* SLOTS ticks each. */
    uint64_t tick;
    uint32_t left;
    uint64_t (*next_tick)(const struct wheel *wheel);
};

struct caller {
    struct wheel *wheel;
    struct timer timer;
    uint64_t after_ns;
    uint64_t delay_ns;
};

static void
put(struct wheel *wheel, struct timer *timer)
{
    struct timer **slot;
    if (timer->due <= wheel->tick) {
        timer->due = wheel->tick + 1;
    }
    if (timer->due < (wheel->tick / SLOTS + 1) * SLOTS) {
        slot = &wheel->near[timer->due % SLOTS];
    } else {
        slot = &wheel->far[timer->due / SLOTS % SLOTS];
    }
    timer->next = *slot;
    *slot = timer;
}

static void
advance(struct wheel *wheel, uint64_t to)
{
    while (wheel->tick < to) {
        wheel->tick++;
        if (wheel->tick % SLOTS == 0) {
            struct timer **slot = &wheel->far[wheel->tick / SLOTS % SLOTS];
            struct timer *list = *slot;
            *slot = NULL;
            while (list != NULL) {
                struct timer *timer = list;
                list = timer->next;
                if (timer->due == wheel->tick) {
                    timer->next = wheel->near[0];
                    wheel->near[0] = timer;
                } else {
                    put(wheel, timer);
                }
            }
        }
        struct timer **slot = &wheel->near[wheel->tick % SLOTS];
        while (*slot != NULL) {
            struct timer *timer = *slot;
            *slot = timer->next;
            timer->fired = true;
            wheel->left--;
            SIM_PROGRESS();
        }
    }
}

static uint64_t
next_near(const struct wheel *wheel)
{
    for (uint64_t tick = wheel->tick + 1; tick <= wheel->tick + SLOTS; tick++) {
        if (wheel->near[tick % SLOTS] != NULL) {
            return tick;
        }
    }
    return SIM_NEVER;
}

static uint64_t
next_any(const struct wheel *wheel)
{
    uint64_t found = next_near(wheel);
    for (uint64_t turn = wheel->tick / SLOTS + 1; turn <= wheel->tick / SLOTS + SLOTS; turn++) {
        if (wheel->far[turn % SLOTS] != NULL && turn * SLOTS < found) {
            found = turn * SLOTS;
        }
    }
    return found;
}

static void
wheel_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    (void)world;
    while (wheel->left > 0) {
        advance(wheel, rt_host_now(wheel->host) / TICK_NS);
        while (wheel->inbox != NULL) {
            struct timer *timer = wheel->inbox;
            wheel->inbox = timer->next;
            put(wheel, timer);
        }
        if (wheel->left == 0) {
            break;
        }
        struct rt_pollable instant;
        struct rt_pollable *list[2] = {&wheel->bell, &instant};
        uint32_t ready[2];
        uint32_t count = 1;
        uint64_t tick = wheel->next_tick(wheel);
        if (tick != SIM_NEVER) {
            SIM_ALWAYS(rt_subscribe_instant(wheel->host, tick * TICK_NS, &instant) == RT_OK);
            count = 2;
        }
        bool timed = count == 2;
        SIM_ALWAYS(rt_host_poll(wheel->host, list, count, ready, &count) == RT_OK);
        if (timed) {
            rt_pollable_drop(&instant);
        }
    }
    rt_pollable_drop(&wheel->bell);
}

static void
caller_main(struct sim_world *world, void *argument)
{
    struct caller *caller = argument;
    struct wheel *wheel = caller->wheel;
    sim_sleep(world, caller->after_ns);
    caller->timer.due = (sim_now(world) + caller->delay_ns) / TICK_NS + 1;
    caller->timer.next = wheel->inbox;
    wheel->inbox = &caller->timer;
    rt_host_notify(wheel->host);
}

static void
setup_wheel(struct sim_world *world, uint64_t (*next_tick)(const struct wheel *))
{
    static const char *const names[TIMERS] = {"ping", "retransmit", "expire"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->host = sim_host_seam(host);
    wheel->left = TIMERS;
    wheel->next_tick = next_tick;
    SIM_ALWAYS(rt_host_subscribe(wheel->host, RT_SUBSCRIBE_NOTIFY, 0, &wheel->bell) == RT_OK);
    (void)sim_loop_new(world, "wheel", wheel_main, wheel);
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct caller *caller = sim_new(world, struct caller);
        caller->wheel = wheel;
        caller->after_ns = sim_range(world, 1 * RT_MS, 4 * RT_MS);
        caller->delay_ns = sim_range(world, 1 * RT_MS, 12 * RT_MS);
        (void)sim_loop_new(world, names[i], caller_main, caller);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_wheel(world, next_near);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_wheel(world, next_any);
}

SIM_SCENARIO(wheel_broken, .name = "wheel/broken", .about = "A timer wheel of two levels.",
        .slack_ns = 2 * RT_MS, .setup = setup_broken);
SIM_SCENARIO(wheel_fixed, .name = "wheel/fixed", .about = "A timer wheel of two levels.",
        .slack_ns = 2 * RT_MS, .setup = setup_fixed);
