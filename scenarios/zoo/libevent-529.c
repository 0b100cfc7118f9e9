/*
 * libevent-529.c -- an event is called again while its deletion waits for its callback.
 *
 * libevent/libevent#529 (and #236, #225).
 *
 * The bug. event_del from another thread must not return while the event's callback runs. It waits
 * for the end of the callback first, and takes the event out of the queues after that. Between the
 * end of the callback and the wake-up of the deleting thread, the base can call the event once
 * more; event_del returns, and the event is freed during the second call.
 *
 * The fix. The event is taken out of the queues first; then there is one callback to wait for, and
 * no other follows: event_del below.
 *
 * Here. A base thread calls an event for each packet, and a second thread deletes it at some time.
 * Between two packets, or with one packet at a time, all is well. Freed memory is overwritten here,
 * as by a poisoning allocator.
 *
 * Cause: not-a-wake in base_main or event_del
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "scenarios/zoo/lock.h"
#include "sim/rewake.h"

#define FREED 0x5a
#define PACKETS 6u

struct base;

struct event {
    void (*begin)(struct base *base);
    void (*end)(struct base *base);
};

struct base {
    struct sim_world *world;
    struct lock lock;
    struct event *event;   /* The event that it watches; NULL: none. */
    uint32_t active;       /* Pending calls, in the queue. */
    struct event *running; /* Its callback runs. */
    struct sim_loop *deleter;
    bool deleter_waits;
    uint32_t calls;
    uint32_t packets;
    bool over;
    bool broken;
};

static void
take_out(struct base *base)
{
    base->event = NULL;
    base->active = 0;
}

static void
wait_for_callback(struct base *base, const struct event *event)
{
    if (base->running == event) {
        base->deleter_waits = true;
        lock_release(&base->lock);
        sim_loop_block(base->world, 0, "the end of the callback", RT_HERE);
        lock_take(&base->lock);
    }
}

static void
event_del(struct base *base, struct event *event)
{
    lock_take(&base->lock);
    if (!base->broken) {
        take_out(base);
    }
    wait_for_callback(base, event);
    if (base->broken) {
        take_out(base);
    }
    lock_release(&base->lock);
}

/* Takes one pending call; NULL: there is none. */
static struct event *
next_active(struct base *base)
{
    lock_take(&base->lock);
    struct event *event = base->active > 0 ? base->event : NULL;
    if (event != NULL) {
        base->active--;
        base->running = event;
    }
    lock_release(&base->lock);
    return event;
}

static void
callback_over(struct base *base)
{
    lock_take(&base->lock);
    base->running = NULL;
    if (base->deleter_waits) {
        base->deleter_waits = false;
        sim_loop_wake(base->deleter);
    }
    lock_release(&base->lock);
}

static void
base_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    while (!base->over) {
        struct event *event = next_active(base);
        if (event == NULL) {
            sim_sleep(world, 100 * RT_US);
            continue;
        }
        event->begin(base);
        sim_sleep(world, 300 * RT_US); /* Reads the packet. */
        event->end(base);
        callback_over(base);
    }
}

static void
network_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    bool burst = sim_pick(world, 2) != 0;
    for (base->packets = 0; base->packets < PACKETS; base->packets++) {
        lock_take(&base->lock);
        base->active += base->event != NULL;
        lock_release(&base->lock);
        sim_sleep(world, burst ? 50 * RT_US : 2 * RT_MS);
    }
}

static void
deleter_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    struct event *event = base->event;
    sim_sleep(world, 15 * RT_MS - sim_range(world, 0, 15 * RT_MS));
    event_del(base, event);
    memset(event, FREED, sizeof(*event));
    sim_sleep(world, RT_MS);
    base->over = true;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
count_call(struct base *base)
{
    base->calls++;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct base *base = sim_new(world, struct base);
    base->world = world;
    base->broken = broken;
    base->lock = (struct lock){.world = world, .name = "the base's lock"};
    base->event = sim_new(world, struct event);
    *base->event = (struct event){.begin = count_call, .end = count_call};
    (void)sim_loop_new(world, "base", base_main, base);
    (void)sim_loop_new(world, "network", network_main, base);
    base->deleter = sim_loop_new(world, "deleter", deleter_main, base);
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

SIM_SCENARIO(zoo_libevent_529_broken, .name = "zoo/libevent-529/broken", .bug = "G11",
        .reference = "libevent/libevent#529",
        .about = "An event is called again while its deletion waits for its callback.",
        .setup = setup_broken, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_libevent_529_fixed, .name = "zoo/libevent-529/fixed",
        .about = "An event is taken out of the queues before its callback is waited for.",
        .setup = setup_fixed);
