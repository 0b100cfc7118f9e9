/*
 * libevent-623.c -- deleting the last event does not wake the loop.
 *
 * libevent/libevent#623 (23c2914); libevent/libevent#1727 and #1730 (b219226) are the same for the
 * timer that is due first.
 *
 * The bug. A loop without events should return. It checks that at the beginning of a turn. If
 * another thread deletes the last event while the loop sleeps, the loop is not woken; adding an
 * event from another thread does wake it.
 *
 * The fix. Deleting the last event wakes the loop too: event_del below.
 *
 * Here. A server's loop waits for a client in a separate thread. The main thread deletes the
 * listener after some time, and waits until the loop has returned. A client that arrives at the
 * right time hides the bug, as does a loop that does not sleep.
 *
 * Cause: never-fired in event_del or main_main
 * Must end in: lost-wakeup. Fails on the baseline run: no, there a client arrives last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4

/* ---- A base, as in libevent; its one event is the listener. ---------------------------------- */

struct base {
    struct sim_world *world;
    struct sim_fds *fds;
    int listener;
    int notify;
    uint32_t events;
    uint32_t clients;
    bool broken;
};

static void
event_del(struct base *base)
{
    base->events--;
    SIM_ALWAYS(sim_fd_remove(base->fds, base->listener) == RT_OK);
    if (!base->broken && base->events == 0) {
        SIM_ALWAYS(sim_fd_notify(base->fds, base->notify) == RT_OK);
    }
}

static void
on_event(struct base *base, int fd)
{
    if (fd == base->notify) {
        uint64_t times;
        (void)sim_fd_read(base->fds, fd, &times, sizeof(times));
        return;
    }
    int client;
    if (sim_fd_accept(base->fds, fd, &client, NULL) == RT_OK) {
        base->clients++;
        SIM_ALWAYS(sim_fd_close(base->fds, client) == RT_OK);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    while (base->events > 0) {
        struct sim_fd_event batch[BATCH_MAX];
        uint32_t count = sim_fd_wait(base->fds, batch, BATCH_MAX, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            on_event(base, (int)batch[i].data);
            sim_sleep(world, 3 * RT_MS); /* A client is served. */
        }
    }
}

static void
main_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    sim_sleep(world, sim_range(world, 6, 40) * RT_MS);
    event_del(base);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct base *base = sim_new(world, struct base);
    *base = (struct base){.world = world, .events = 1, .broken = broken};
    base->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_listen(base->fds, "listener", 3, 5 * RT_MS, 30 * RT_MS, &base->listener) ==
               RT_OK);
    SIM_ALWAYS(sim_fd_event_open(base->fds, "notify", &base->notify) == RT_OK);
    SIM_ALWAYS(sim_fd_add(base->fds, base->listener, SIM_FD_IN, (uint64_t)base->listener) == RT_OK);
    SIM_ALWAYS(sim_fd_add(base->fds, base->notify, SIM_FD_IN, (uint64_t)base->notify) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, base);
    (void)sim_loop_new(world, "main", main_main, base);
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

SIM_SCENARIO(zoo_libevent_623_broken, .name = "zoo/libevent-623/broken", .bug = "E21",
        .reference = "libevent/libevent#623",
        .about = "Deleting the last event does not wake the loop.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_libevent_623_fixed, .name = "zoo/libevent-623/fixed",
        .about = "Deleting the last event wakes the loop.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
