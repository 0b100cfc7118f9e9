/*
 * trap_subscribes_again.c -- a trap, no canary: a task that waits for new objects at each poll.
 *
 * Many hand-written futures drop their waits and subscribe again at each poll. So a blocked task
 * that is spuriously polled waits for another pollable, another slot and another timer afterwards,
 * and a judge that compares objects would see progress. It waits for the same things at the same
 * lines: it made none.
 *
 * Must end in: pass, for every seed and every audit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct watcher {
    struct rt_task task;
    struct sim_source *source;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_slot stop;
    struct rt_sleep limit;
    uint64_t deadline_ns;
};

static void
give_up(struct watcher *watcher)
{
    rt_wait_cancel(&watcher->wait);
    rt_pollable_drop(&watcher->pollable);
    rt_slot_clear(&watcher->stop);
    rt_sleep_cancel(&watcher->limit);
}

static void
subscribe(struct watcher *watcher)
{
    SIM_ALWAYS(sim_source_subscribe(watcher->source, &watcher->pollable) == RT_OK);
    rt_wait_init(&watcher->wait);
    rt_slot_init(&watcher->stop);
    rt_sleep_until(&watcher->limit, watcher->deadline_ns);
}

/* Waits until there is an event, or the time is up. */
static rt_poll
watcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watcher *watcher = rt_container_of(task, struct watcher, task);
    give_up(watcher);
    if (sim_source_take(watcher->source) == RT_OK) {
        return RT_READY;
    }
    subscribe(watcher);
    rt_slot_replace(&watcher->stop, cx, "a call to stop");
    bool ready = rt_wait_for(&watcher->wait, &watcher->pollable, cx) == RT_READY;
    if (rt_sleep_poll(&watcher->limit, cx) == RT_PENDING && !ready) {
        return RT_PENDING;
    }
    give_up(watcher);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct watcher *watcher = sim_new(world, struct watcher);
    watcher->source = sim_source_new(sim_rt_host(rt), "event");
    sim_source_event_in(watcher->source, 1 * RT_MS, 40 * RT_MS);
    rt_wait_init(&watcher->wait);
    rt_slot_init(&watcher->stop);
    rt_sleep_init(&watcher->limit, 0);
    watcher->deadline_ns = 20 * RT_MS;
    rt_task_init(&watcher->task, watcher_poll, NULL, "watcher");
    sim_spawn(rt, &watcher->task);
}

SIM_SCENARIO(canary_trap_subscribes_again, .name = "canary/trap-subscribes-again",
        .about = "A task makes what it waits for again at each poll, and that is no progress.",
        .setup = setup);
