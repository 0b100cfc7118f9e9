/*
 * libevent-1530.c -- a timeout erases the reason for which an event was activated.
 *
 * libevent/libevent#1530, fixed by libevent/libevent#1734 (342a0fa).
 *
 * The bug. An active event waits in a queue for its callback, with flags that say what happened. If
 * its timeout expires in the same turn, the pass over the timeouts deletes the event, which takes
 * it out of that queue, and activates it again with "timeout" only. That another thread had
 * activated it with "writable" is lost.
 *
 * The fix. An active event keeps its flags and gets the timeout in addition: timeout_process below.
 *
 * Here. A program waits for a worker, which activates the event when its result is there. The event
 * has a timeout, after which the program reports that this takes longer than usual, and waits again
 * without one.
 *
 * Cause: order, event_active before timeout_process or erased in event_del
 * Must end in: deadlock of the program. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4

/* ---- A base with one event, as in libevent. -------------------------------------------------- */

#define EV_TIMEOUT 1u
#define EV_WRITE 4u

struct base;

struct event {
    bool active; /* In the queue. */
    uint32_t result;
    uint64_t timeout_ns; /* SIM_NEVER: none. */
    void (*callback)(struct base *base, uint32_t result);
};

struct base {
    struct sim_world *world;
    struct sim_fds *fds;
    struct event event;
    int notify;
    bool stopped;
    bool broken;
};

/* Called from any thread. */
static void
event_active(struct base *base, uint32_t result)
{
    struct event *event = &base->event;
    event->result = event->active ? event->result | result : result;
    event->active = true;
    SIM_ALWAYS(sim_fd_notify(base->fds, base->notify) == RT_OK);
}

static void
event_del(struct base *base)
{
    base->event.active = false;
    base->event.timeout_ns = SIM_NEVER;
}

static void
timeout_process(struct base *base)
{
    struct event *event = &base->event;
    if (event->timeout_ns > sim_now(base->world)) {
        return;
    }
    if (!base->broken && event->active) {
        event->timeout_ns = SIM_NEVER;
        event->result |= EV_TIMEOUT;
        return;
    }
    event_del(base);
    event_active(base, EV_TIMEOUT);
}

static void
process_active(struct base *base)
{
    struct event *event = &base->event;
    if (event->active) {
        event->active = false;
        event->callback(base, event->result);
    }
}

static void
wait_for_events(struct base *base)
{
    struct sim_fd_event batch[BATCH_MAX];
    uint64_t now_ns = sim_now(base->world);
    uint64_t due_ns = base->event.timeout_ns;
    uint64_t timeout_ns = due_ns == SIM_NEVER ? SIM_NEVER : 0;
    if (due_ns != SIM_NEVER && due_ns > now_ns) {
        timeout_ns = due_ns - now_ns;
    }
    uint32_t count = sim_fd_wait(base->fds, batch, BATCH_MAX, timeout_ns);
    if (count > 0) {
        uint64_t times;
        (void)sim_fd_read(base->fds, base->notify, &times, sizeof(times));
    }
}

static void
base_dispatch(struct base *base)
{
    while (!base->stopped) {
        wait_for_events(base);
        timeout_process(base);
        process_active(base);
    }
}

/* ---- The program, and its worker. ------------------------------------------------------------ */

static void
on_event(struct base *base, uint32_t result)
{
    if ((result & EV_WRITE) != 0) {
        base->stopped = true;
    } else {
        base->event.timeout_ns = SIM_NEVER; /* "This takes longer than usual." */
    }
}

static void
program_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    base->event.timeout_ns = sim_now(world) + 10 * RT_MS;
    base_dispatch(base);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    sim_sleep(world, sim_range(world, 5, 15) * RT_MS);
    event_active(base, EV_WRITE);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct base *base = sim_new(world, struct base);
    *base = (struct base){.world = world, .broken = broken};
    base->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    base->event = (struct event){.timeout_ns = SIM_NEVER, .callback = on_event};
    SIM_ALWAYS(sim_fd_event_open(base->fds, "notify", &base->notify) == RT_OK);
    SIM_ALWAYS(sim_fd_add(base->fds, base->notify, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "program", program_main, base);
    (void)sim_loop_new(world, "worker", worker_main, base);
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

SIM_SCENARIO(zoo_libevent_1530_broken, .name = "zoo/libevent-1530/broken", .bug = "E20",
        .reference = "libevent/libevent#1530",
        .about = "A timeout makes an event lose its activation.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_libevent_1530_fixed, .name = "zoo/libevent-1530/fixed",
        .about = "A timeout adds to what an event was activated with.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
