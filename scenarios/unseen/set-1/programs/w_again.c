/*
 * w_again.c -- A callback loop with timers, like uv_timer: a reconnect timer starts itself
 * again, with a longer delay, from inside its own callback; each callback is reported as a
 * watcher's.
 *
 * Cause: The loop marks a one-shot timer as inactive after its callback instead of before it,
 * which cancels the restart that the callback has just made.
 * Where: run_timers
 * Kind: missing re-arm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct timer {
    uint64_t due;
    bool active;
    void (*callback)(struct timer *timer);
};

struct client {
    struct timer reconnect; /* First. */
    struct sim_world *world;
    struct sim_fds *os;
    uint32_t attempts;
    uint32_t needed;
    bool connected;
};

static void
timer_start(struct client *client, struct timer *timer, uint64_t delay)
{
    timer->due = sim_now(client->world) + delay;
    timer->active = true;
}

static void
on_reconnect(struct timer *timer)
{
    struct client *client = rt_container_of(timer, struct client, reconnect);
    client->attempts++;
    SIM_PROGRESS();
    if (client->attempts == client->needed) {
        client->connected = true;
    } else {
        timer_start(client, timer, client->attempts * RT_MS);
    }
}

static void
run_timer(struct client *client)
{
    sim_foreign_poll(&client->reconnect);
    client->reconnect.callback(&client->reconnect);
    sim_foreign_polled(&client->reconnect, client->connected);
}

static void
again(void *argument, void *task)
{
    struct client *client = argument;
    (void)task;
    if (sim_now(client->world) >= client->reconnect.due && !client->connected) {
        run_timer(client);
    }
}

static void
run_timers(struct client *client)
{
    struct timer *timer = &client->reconnect;
    if (timer->active && timer->due <= sim_now(client->world)) {
        if (fixed) {
            timer->active = false;
        }
        run_timer(client);
        if (!fixed) {
            timer->active = false; /* Where. */
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct client *client = argument;
    struct sim_fd_event event;
    timer_start(client, &client->reconnect, RT_MS);
    while (!client->connected) {
        uint64_t now = sim_now(world);
        uint64_t due = client->reconnect.due;
        uint64_t sleep = !client->reconnect.active ? SIM_NEVER : due > now ? due - now : 0;
        sim_fd_wait(client->os, &event, 1, sleep);
        run_timers(client);
    }
}

static void
setup(struct sim_world *world)
{
    struct client *client = sim_new(world, struct client);
    int eventfd;
    client->world = world;
    client->needed = 1 + sim_pick(world, 3);
    client->reconnect.callback = on_reconnect;
    client->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(client->os, "wake", &eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(client->os, eventfd, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, client);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, client);
    sim_foreign_watch(foreign, &client->reconnect, "reconnect", "its time");
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

SIM_SCENARIO(form_broken, .name = "unseen/w-again/broken",
        .about = "A timer that starts itself again in its callback.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/w-again/fixed",
        .about = "A timer that starts itself again in its callback.", .setup = setup_fixed);
