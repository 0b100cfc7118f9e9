// Cause: wheel_advance(): it jumps to the tick of the clock and looks at the slot of that tick only. When a callback
// has kept the loop busy for longer than a tick, the slots in between are passed over, and a timer in one of them
// fires only when the wheel comes round again, eight ticks later.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SLOTS 8u
#define TICK RT_MS
#define TIMERS 3u

struct wheel;

struct timer {
    struct wheel *wheel;
    struct timer *next;
    uint64_t tick; /* At which it is due. */
    bool fired;
};

struct wheel {
    struct sim_world *world;
    struct sim_fds *fds;
    int jobs;
    uint64_t tick;
    struct timer *slots[SLOTS];
    struct timer timers[TIMERS];
    uint32_t fired;
    bool walks;
};

static void
timer_call(struct timer *timer)
{
    sim_foreign_poll(timer);
    timer->fired = true;
    timer->wheel->fired++;
    sim_foreign_polled(timer, true);
}

static void
wheel_add(struct wheel *wheel, struct timer *timer, uint64_t tick)
{
    struct timer **slot = &wheel->slots[tick % SLOTS];
    timer->wheel = wheel;
    timer->tick = tick;
    timer->next = *slot;
    *slot = timer;
}

static void
fire_slot(struct wheel *wheel, uint64_t tick)
{
    struct timer **link = &wheel->slots[tick % SLOTS];
    while (*link != NULL) {
        struct timer *timer = *link;
        if (timer->tick > wheel->tick) {
            link = &timer->next;
            continue;
        }
        *link = timer->next;
        timer_call(timer);
    }
}

static void
wheel_advance(struct wheel *wheel, uint64_t now_ns)
{
    uint64_t tick = now_ns / TICK;
    if (wheel->walks) {
        while (wheel->tick < tick) {
            wheel->tick++;
            fire_slot(wheel, wheel->tick);
        }
        return;
    }
    if (wheel->tick != tick) {
        wheel->tick = tick;
        fire_slot(wheel, tick);
    }
}

static void
do_jobs(struct wheel *wheel)
{
    uint64_t times = 0;
    if (sim_fd_read(wheel->fds, wheel->jobs, &times, sizeof(times)) > 0) {
        sim_work(wheel->world, sim_range(wheel->world, 10 * RT_US, 4 * RT_MS));
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    while (wheel->fired < TIMERS) {
        struct sim_fd_event event;
        if (sim_fd_wait(wheel->fds, &event, 1, TICK - sim_now(world) % TICK) > 0) {
            do_jobs(wheel);
        }
        wheel_advance(wheel, sim_now(world));
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct wheel *wheel = argument;
    for (uint32_t i = 0; i < 2; i++) {
        sim_sleep(world, sim_range(world, RT_MS / 2, 4 * RT_MS));
        SIM_ALWAYS(sim_fd_notify(wheel->fds, wheel->jobs) == RT_OK);
    }
}

/* A timer is due when its tick has begun. */
static void
timer_again(void *argument, void *asked)
{
    struct wheel *wheel = argument;
    struct timer *timer = asked;
    if (!timer->fired && sim_now(wheel->world) / TICK >= timer->tick) {
        timer_call(timer);
    }
}

static void
begin(struct sim_world *world, bool walks)
{
    static const char *const names[TIMERS] = {"timer 1", "timer 2", "timer 3"};
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->world = world;
    wheel->walks = walks;
    wheel->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(wheel->fds, "jobs", &wheel->jobs) == RT_OK);
    SIM_ALWAYS(sim_fd_add(wheel->fds, wheel->jobs, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, wheel);
    struct sim_foreign *foreign = sim_foreign_new(loop, timer_again, wheel);
    for (uint32_t i = 0; i < TIMERS; i++) {
        wheel_add(wheel, &wheel->timers[i], 2 + 2 * i);
        sim_foreign_watch(foreign, &wheel->timers[i], names[i], "its time");
    }
    (void)sim_loop_new(world, "client", client_main, wheel);
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

SIM_SCENARIO(wheel_broken, .name = "set7/s7_wheel/broken",
        .about = "Timers in a wheel, in a loop that is sometimes busy.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .slack_ns = 2 * TICK);
SIM_SCENARIO(wheel_fixed, .name = "set7/s7_wheel/fixed",
        .about = "Timers in a wheel, in a loop that is sometimes busy.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD, .slack_ns = 2 * TICK);
