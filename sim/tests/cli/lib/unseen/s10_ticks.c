// SPDX-License-Identifier: Apache-2.0
/* Cause: wheel_turn(), line 58: after a slow callback only the slot of the present tick is looked
 * at, and the slots of the ticks in between wait for a whole round. repair: begin at last + 1. */
#include <sim/rewake.h>

#define SLOTS 16
#define TICK RT_MS
#define LATEST (8 * TICK)

struct timer {
    struct timer *next;
    uint64_t expires; /* In ticks. */
    void (*fn)(struct sim_world *world, struct timer *timer);
};

struct wheel {
    struct timer *slots[SLOTS];
    uint64_t last;
    uint32_t armed;
    bool catches_up;
};

static void
wheel_arm(struct wheel *wheel, struct timer *timer, uint64_t ticks)
{
    timer->expires = wheel->last + ticks;
    timer->next = wheel->slots[timer->expires % SLOTS];
    wheel->slots[timer->expires % SLOTS] = timer;
    wheel->armed++;
}

static void
wheel_expire(struct sim_world *world, struct wheel *wheel, uint64_t tick)
{
    struct timer **link = &wheel->slots[tick % SLOTS];
    struct timer *due = NULL;
    while (*link) {
        struct timer *timer = *link;
        if (timer->expires <= tick) {
            *link = timer->next;
            timer->next = due;
            due = timer;
        } else {
            link = &timer->next;
        }
    }
    while (due) {
        struct timer *timer = due;
        due = timer->next;
        wheel->armed--;
        timer->fn(world, timer);
    }
}

static void
wheel_turn(struct sim_world *world, struct wheel *wheel)
{
    uint64_t now = sim_now(world) / TICK;
    uint64_t tick = now;
    if (wheel->catches_up) {
        tick = wheel->last + 1;
    }
    for (; tick <= now; tick++) {
        wheel->last = tick;
        wheel_expire(world, wheel, tick);
    }
}

static void
on_time(struct sim_world *world, struct timer *timer)
{
    SIM_ALWAYS(sim_now(world) <= timer->expires * TICK + LATEST);
}

/* Asks a resolver that takes its time. */
static void
resolve(struct sim_world *world, struct timer *timer)
{
    on_time(world, timer);
    sim_work(world, 3 * TICK);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    struct timer *lookup = sim_new(world, struct timer);
    struct timer *ping = sim_new(world, struct timer);
    struct timer *save = sim_new(world, struct timer);
    lookup->fn = resolve;
    ping->fn = save->fn = on_time;
    wheel_arm(wheel, lookup, 2);
    wheel_arm(wheel, ping, 3);
    wheel_arm(wheel, save, 5);
    while (wheel->armed > 0) {
        uint64_t next = (sim_now(world) / TICK + 1) * TICK;
        sim_sleep(world, next - sim_now(world));
        wheel_turn(world, wheel);
    }
}

static void
begin(struct sim_world *world, bool catches_up)
{
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->catches_up = catches_up;
    (void)sim_loop_new(world, "timers", loop_main, wheel);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(ticks_broken, .name = "ticks/broken", .about = "Three timers in a wheel.",
        .setup = setup_broken);
SIM_SCENARIO(
        ticks_fixed, .name = "ticks/fixed", .about = "The same, repaired.", .setup = setup_fixed);
