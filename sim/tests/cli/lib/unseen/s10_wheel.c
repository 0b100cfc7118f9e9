// SPDX-License-Identifier: Apache-2.0
/* Cause: wheel_cancel() line 56: the slot's bit is cleared when the cancelled timer is the last of
 * its list, also when others precede it; wheel_timeout() then skips the slot. Repair: clear the bit only
 * if the slot's list is empty (as with `whole`). */
#include <sim/rewake.h>

#define SLOTS 16u
#define TICK (1 * RT_MS)
#define SESSIONS 4
#define BYES 2

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
    bool whole;
};

struct server {
    struct wheel wheel;
    struct timer idle[SESSIONS];
    struct sim_fds *fds;
    int epoll;
    int byes[2]; /* A pipe: one byte for each session that is closed. */
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
    if (wheel->whole ? wheel->slots[slot] == NULL : timer->next == NULL) {
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
hear_byes(struct server *server)
{
    unsigned char who[BYES];
    int64_t count =
            sim_sys_read(server->fds, server->byes[0], who, sizeof(who), SIM_SYS_DONTWAIT, RT_HERE);
    for (int64_t i = 0; i < count; i++) {
        struct timer *timer = &server->idle[who[i]];
        if (timer->link != NULL) {
            wheel_cancel(&server->wheel, timer);
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
            hear_byes(server);
        }
        wheel_advance(wheel, sim_now(world));
    }
}

static void
clients_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    for (uint32_t i = 0; i < BYES; i++) {
        unsigned char who = (unsigned char)sim_pick(world, SESSIONS);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 4 * RT_MS));
        SIM_ALWAYS(sim_sys_write(server->fds, server->byes[1], &who, 1, 0, RT_HERE) == 1);
    }
}

static void
begin(struct sim_world *world, bool whole)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct server *server = sim_new(world, struct server);
    server->wheel.whole = whole;
    server->fds = sim_fds_new(host, 3);
    server->epoll = sim_sys_epoll(server->fds, "epoll");
    SIM_ALWAYS(sim_sys_pipe(server->fds, "byes", server->byes) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(server->fds, server->epoll, server->byes[0], SIM_FD_IN, 0) == 0);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        wheel_add(&server->wheel, &server->idle[i], sim_range(world, 4 + i, 9));
    }
    (void)sim_loop_new(world, "server", server_main, server);
    (void)sim_loop_new(world, "clients", clients_main, server);
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

SIM_SCENARIO(wheel_broken, .name = "s10/wheel/broken",
        .about = "Sessions end when they are idle, by a timer wheel.", .setup = setup_broken);
SIM_SCENARIO(wheel_fixed, .name = "s10/wheel/fixed",
        .about = "Sessions end when they are idle, by a timer wheel.", .setup = setup_fixed);
