/* A hashed timer wheel of a loop that stops its tick while there is no timer, and callers that set time limits.
 * Cause: wheel_add() (line 47): the place of a timer is counted from the last tick, which is long ago where the wheel
 * has rested, so that the limit is over too early. Repair: bring the tick to the present where the wheel was empty. */
#include <sim/rewake.h>

#define SLOTS 8
#define TICK RT_MS
#define CALLS 3

struct timer {
    struct timer *next;
    uint32_t rounds;
    uint64_t set_ns, ticks;
    bool armed, fired;
};

struct wheel {
    struct sim_world *world;
    struct timer *slots[SLOTS];
    uint64_t tick; /* The last one that was handled. */
    uint32_t count;
    bool repaired;
};

struct service {
    struct wheel wheel;
    struct sim_fds *fds;
    int bell;
    struct timer timers[CALLS];
    uint32_t requested, started, over;
    uint64_t gap_ns[CALLS];
    uint64_t limit[CALLS];
};

static uint64_t
present(const struct wheel *wheel)
{
    return sim_now(wheel->world) / TICK;
}

static void
wheel_add(struct wheel *wheel, struct timer *timer, uint64_t ticks)
{
    if (wheel->repaired && wheel->count == 0) {
        wheel->tick = present(wheel);
    }
    uint64_t at = wheel->tick + ticks + 1;
    timer->rounds = (uint32_t)(ticks / SLOTS);
    timer->set_ns = sim_now(wheel->world);
    timer->ticks = ticks;
    timer->armed = true;
    timer->next = wheel->slots[at % SLOTS];
    wheel->slots[at % SLOTS] = timer;
    wheel->count++;
}

static uint32_t
wheel_advance(struct wheel *wheel)
{
    uint32_t fired = 0;
    uint64_t until = present(wheel);
    while (wheel->tick < until && wheel->count > 0) {
        wheel->tick++;
        struct timer **at = &wheel->slots[wheel->tick % SLOTS];
        while (*at != NULL) {
            struct timer *timer = *at;
            if (timer->rounds > 0) {
                timer->rounds--;
                at = &timer->next;
                continue;
            }
            *at = timer->next;
            timer->armed = false;
            timer->fired = true;
            wheel->count--;
            fired++;
            SIM_ALWAYS(sim_now(wheel->world) >= timer->set_ns + timer->ticks * TICK);
        }
    }
    return fired;
}

static void
service_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    (void)world;
    while (service->over < CALLS) {
        struct sim_fd_event event;
        uint64_t limit = service->wheel.count > 0 ? TICK : SIM_NEVER;
        if (sim_fd_wait(service->fds, &event, 1, limit) > 0) {
            uint64_t count;
            (void)sim_fd_read(service->fds, service->bell, &count, sizeof count);
        }
        service->over += wheel_advance(&service->wheel);
        while (service->started < service->requested) {
            struct timer *timer = &service->timers[service->started];
            wheel_add(&service->wheel, timer, service->limit[service->started]);
            service->started++;
        }
    }
}

static void
caller_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    for (uint32_t i = 0; i < CALLS; i++) {
        sim_sleep(world, service->gap_ns[i]);
        service->requested++;
        SIM_ALWAYS(sim_fd_notify(service->fds, service->bell) == RT_OK);
    }
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct service *service = sim_new(world, struct service);
    service->wheel.world = world;
    service->wheel.repaired = repaired;
    for (uint32_t i = 0; i < CALLS; i++) {
        service->gap_ns[i] = i == 0 ? 0 : sim_range(world, 1 * RT_MS, 12 * RT_MS);
        service->limit[i] = sim_range(world, 4, 10);
    }
    service->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(service->fds, "bell", &service->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(service->fds, service->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "service", service_main, service);
    (void)sim_loop_new(world, "caller", caller_main, service);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(wheel_broken, .name = "s14_wheel/broken", .about = "A wheel that rests.",
        .setup = setup_broken, .slack_ns = 2 * RT_MS);
SIM_SCENARIO(wheel_fixed, .name = "s14_wheel/fixed", .about = "A wheel that rests, repaired.",
        .setup = setup_fixed, .slack_ns = 2 * RT_MS);
/* SPDX-License-Identifier: Apache-2.0 */
