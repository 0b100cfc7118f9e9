// Cause: receiver_poll(), the line `receiver->seen = ...`: it marks the version that is current when it has applied
// a value, and not the version that it had read. A value that the publisher sets while the receiver applies the one
// before is marked as seen without having been read; if it is the last one, the receiver waits for a change forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define LAST 3u

struct watch {
    uint32_t version;
    uint32_t value;
    struct rt_slot changed;
};

struct publisher {
    struct rt_task task;
    struct sim_world *world;
    struct watch *watch;
    uint32_t at;
    struct rt_sleep nap;
};

struct receiver {
    struct rt_task task;
    struct sim_world *world;
    struct watch *watch;
    uint32_t at;
    struct rt_sleep applying;
    uint32_t seen;
    uint32_t read;
    uint32_t read_version;
    uint32_t applied;
    bool marks_what_it_read;
};

static rt_poll
publisher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct publisher *publisher = rt_container_of(task, struct publisher, task);
    struct watch *watch = publisher->watch;
    RT_BEGIN(publisher->at);
    while (watch->value < LAST) {
        rt_sleep_init(&publisher->nap, 2 * RT_MS - sim_range(publisher->world, 0, 19 * RT_MS / 10));
        RT_AWAIT_HERE(publisher->at, rt_sleep_poll(&publisher->nap, cx));
        watch->value++;
        watch->version++;
        (void)rt_slot_wake(&watch->changed);
    }
    RT_END(publisher->at);
}

static rt_poll
changed(struct receiver *receiver, struct rt_cx *cx)
{
    struct watch *watch = receiver->watch;
    if (watch->version != receiver->seen) {
        (void)rt_slot_clear(&watch->changed);
        return RT_READY;
    }
    rt_slot_replace(&watch->changed, cx, "a new value");
    return RT_PENDING;
}

static rt_poll
receiver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct receiver *receiver = rt_container_of(task, struct receiver, task);
    struct watch *watch = receiver->watch;
    RT_BEGIN(receiver->at);
    while (receiver->applied < LAST) {
        RT_AWAIT_HERE(receiver->at, changed(receiver, cx));
        receiver->read = watch->value;
        receiver->read_version = watch->version;
        rt_sleep_init(&receiver->applying, sim_range(receiver->world, 100 * RT_US, RT_MS));
        RT_AWAIT_HERE(receiver->at, rt_sleep_poll(&receiver->applying, cx));
        receiver->applied = receiver->read;
        receiver->seen = receiver->marks_what_it_read ? receiver->read_version : watch->version;
    }
    RT_END(receiver->at);
}

static void
begin(struct sim_world *world, bool marks_what_it_read)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct watch *watch = sim_new(world, struct watch);
    struct publisher *publisher = sim_new(world, struct publisher);
    struct receiver *receiver = sim_new(world, struct receiver);
    rt_slot_init(&watch->changed);
    publisher->world = receiver->world = world;
    publisher->watch = receiver->watch = watch;
    receiver->marks_what_it_read = marks_what_it_read;
    rt_task_init(&receiver->task, receiver_poll, NULL, "receiver");
    rt_task_init(&publisher->task, publisher_poll, NULL, "publisher");
    sim_spawn(rt, &receiver->task);
    sim_spawn(rt, &publisher->task);
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

SIM_SCENARIO(watch_broken, .name = "set7/s7_watch/broken",
        .about = "A receiver follows a value of which only the latest counts.", .setup = setup_broken);
SIM_SCENARIO(watch_fixed, .name = "set7/s7_watch/fixed",
        .about = "A receiver follows a value of which only the latest counts.", .setup = setup_fixed);
