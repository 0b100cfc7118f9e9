// Correct. It was accused of a late wake-up: a loop looks by its own time-out, within a
// tick, at what has changed until then.
// SPDX-License-Identifier: Apache-2.0
/* A timer wheel for idle sessions; a sign of life that comes at the very end of a session may be too late. */
#include <sim/rewake.h>

#define SLOTS 16u
#define TICK (1 * RT_MS)
#define SESSIONS 3
#define BEATS 3

struct timer {
    struct timer *next;
    struct timer **link; /* What points at it; NULL: not armed. */
    uint64_t due_tick;
};

struct wheel {
    struct timer *slots[SLOTS];
    uint32_t occupied; /* One bit for each slot. */
    uint64_t now_tick;
    uint32_t armed;
};

struct server {
    struct wheel wheel;
    struct timer idle[SESSIONS];
    uint64_t idle_ticks[SESSIONS];
    struct sim_fds *fds;
    int epoll;
    int heartbeats[2]; /* A pipe: one byte for each sign of life. */
};

static void
wheel_add(struct wheel *wheel, struct timer *timer, uint64_t due_tick)
{
    uint32_t slot = due_tick % SLOTS;
    timer->due_tick = due_tick;
    timer->next = wheel->slots[slot];
    timer->link = &wheel->slots[slot];
    if (timer->next != NULL) {
        timer->next->link = &timer->next;
    }
    wheel->slots[slot] = timer;
    wheel->occupied |= 1u << slot;
    wheel->armed++;
}

static void
wheel_cancel(struct wheel *wheel, struct timer *timer)
{
    uint32_t slot = timer->due_tick % SLOTS;
    *timer->link = timer->next;
    if (timer->next != NULL) {
        timer->next->link = timer->link;
    }
    if (wheel->slots[slot] == NULL) {
        wheel->occupied &= ~(1u << slot);
    }
    timer->link = NULL;
    wheel->armed--;
}

/* How long until the next slot that has a timer. */
static uint64_t
wheel_timeout(const struct wheel *wheel, uint64_t now_ns)
{
    for (uint64_t tick = wheel->now_tick + 1; tick <= wheel->now_tick + SLOTS; tick++) {
        if ((wheel->occupied >> tick % SLOTS & 1) != 0) {
            return tick * TICK > now_ns ? tick * TICK - now_ns : 0;
        }
    }
    return SIM_NEVER;
}

/* Ends the timers that are due. */
static void
wheel_advance(struct wheel *wheel, uint64_t now_ns)
{
    while (wheel->now_tick < now_ns / TICK) {
        wheel->now_tick++;
        struct timer *timer = wheel->slots[wheel->now_tick % SLOTS];
        while (timer != NULL) {
            struct timer *next = timer->next;
            if (timer->due_tick <= wheel->now_tick) {
                wheel_cancel(wheel, timer);
                SIM_PROGRESS();
            }
            timer = next;
        }
    }
}

static void
hear_beats(struct server *server)
{
    unsigned char who[SESSIONS * BEATS];
    int64_t count = sim_sys_read(
            server->fds, server->heartbeats[0], who, sizeof(who), SIM_SYS_DONTWAIT, RT_HERE);
    for (int64_t i = 0; i < count; i++) {
        struct timer *timer = &server->idle[who[i]];
        if (timer->link != NULL) {
            wheel_cancel(&server->wheel, timer);
            wheel_add(&server->wheel, timer, server->wheel.now_tick + server->idle_ticks[who[i]]);
        }
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    struct wheel *wheel = &server->wheel;
    struct sim_fd_event event;
    while (wheel->armed > 0) {
        uint64_t timeout_ns = wheel_timeout(wheel, sim_now(world));
        int count = sim_sys_epoll_wait(server->fds, server->epoll, &event, 1, timeout_ns, RT_HERE);
        if (count > 0) {
            hear_beats(server);
        }
        wheel_advance(wheel, sim_now(world));
    }
}

static void
clients_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    for (uint32_t i = 0; i < BEATS; i++) {
        unsigned char who = (unsigned char)sim_pick(world, SESSIONS);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 4 * RT_MS));
        SIM_ALWAYS(sim_sys_write(server->fds, server->heartbeats[1], &who, 1, 0, RT_HERE) == 1);
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct server *server = sim_new(world, struct server);
    server->fds = sim_fds_new(host, 3);
    server->epoll = sim_sys_epoll(server->fds, "epoll");
    SIM_ALWAYS(sim_sys_pipe(server->fds, "heartbeats", server->heartbeats) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(server->fds, server->epoll, server->heartbeats[0], SIM_FD_IN, 0) ==
               0);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        server->idle_ticks[i] = sim_range(world, 4, 6);
        wheel_add(&server->wheel, &server->idle[i], server->idle_ticks[i]);
    }
    (void)sim_loop_new(world, "server", server_main, server);
    (void)sim_loop_new(world, "clients", clients_main, server);
}

SIM_SCENARIO(rearm, .name = "ok10/rearm",
        .about = "Sessions end when they are idle, by a timer wheel.", .setup = setup);
