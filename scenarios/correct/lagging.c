/*
 * lagging.c -- a broadcast that keeps the last four messages; readers that are too slow miss some.
 *
 * Each reader has the number of the message that it reads next. The sender never waits: it
 * overwrites the oldest. A reader that lags by more than the ring holds jumps to the oldest message
 * that is left and counts the missed ones. Each has a separate slot, which the sender fires after
 * each message and at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READERS 2u
#define KEPT 4u
#define MESSAGES 12u

struct feed {
    struct sim_world *world;
    uint64_t ring[KEPT];
    uint64_t sent;
    bool ended;
    struct rt_slot slots[READERS];
};

struct reader {
    struct rt_task task;
    struct feed *feed;
    struct rt_slot *slot;
    struct rt_sleep sleep;
    uint64_t next;
    uint64_t read;
    uint64_t missed;
    uint32_t at;
};

struct sender {
    struct rt_task task;
    struct feed *feed;
    struct rt_sleep sleep;
    uint32_t at;
};

/* READY: there is a message, or the end. */
static rt_poll
reader_wait(struct reader *reader, struct rt_cx *cx)
{
    if (reader->next < reader->feed->sent || reader->feed->ended) {
        return RT_READY;
    }
    rt_slot_replace(reader->slot, cx, "a message");
    return RT_PENDING;
}

static void
reader_read(struct reader *reader)
{
    struct feed *feed = reader->feed;
    if (feed->sent - reader->next > KEPT) {
        reader->missed += feed->sent - KEPT - reader->next;
        reader->next = feed->sent - KEPT;
    }
    SIM_ALWAYS(feed->ring[reader->next % KEPT] == reader->next);
    reader->next++;
    reader->read++;
    SIM_PROGRESS();
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    for (;;) {
        RT_AWAIT_HERE(reader->at, reader_wait(reader, cx));
        if (reader->next == reader->feed->sent) {
            break;
        }
        reader_read(reader);
        rt_sleep_init(&reader->sleep, sim_range(reader->feed->world, 0, 2 * RT_MS));
        RT_AWAIT_HERE(reader->at, rt_sleep_poll(&reader->sleep, cx));
    }
    SIM_ALWAYS(reader->read + reader->missed == MESSAGES);
    RT_END(reader->at);
}

static void
feed_tell_all(struct feed *feed)
{
    for (uint32_t i = 0; i < READERS; i++) {
        rt_slot_wake(&feed->slots[i]);
    }
}

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sender *sender = rt_container_of(task, struct sender, task);
    struct feed *feed = sender->feed;
    RT_BEGIN(sender->at);
    while (feed->sent < MESSAGES) {
        feed->ring[feed->sent % KEPT] = feed->sent;
        feed->sent++;
        feed_tell_all(feed);
        rt_sleep_init(&sender->sleep, sim_range(feed->world, 0, RT_MS));
        RT_AWAIT_HERE(sender->at, rt_sleep_poll(&sender->sleep, cx));
    }
    feed->ended = true;
    feed_tell_all(feed);
    RT_END(sender->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READERS] = {"reader 1", "reader 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct feed *feed = sim_new(world, struct feed);
    struct sender *sender = sim_new(world, struct sender);
    feed->world = world;
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        rt_slot_init(&feed->slots[i]);
        reader->feed = feed;
        reader->slot = &feed->slots[i];
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
    sender->feed = feed;
    rt_task_init(&sender->task, sender_poll, NULL, "sender");
    sim_spawn(rt, &sender->task);
}

SIM_SCENARIO(correct_lagging, .name = "correct/lagging",
        .about = "A broadcast whose slow readers miss messages, but never the end.",
        .setup = setup);
