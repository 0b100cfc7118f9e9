/*
 * tokio-2854.c -- the last permit of a closed channel is released, and the receiver is not woken.
 *
 * tokio-rs/tokio#2854 (mpsc; the same in #900, #8075 and #8260, each on another path).
 *
 * The bug. A receiver that has closed the channel still receives what outstanding permits send; its
 * receive ends when the last permit is released. A send wakes the receiver. A permit that is
 * released without a send only decrements the count.
 *
 * The fix. Every path that releases a permit checks whether the channel is closed and idle, and
 * then wakes the receiver. `permit_release` below.
 *
 * Here. An author has reserved a permit for an article. The editor closes the issue at some time
 * and waits for outstanding articles. The author releases the permit without an article.
 *
 * Cause: never-fired in permit_release or author_poll
 * Must end in: lost-wakeup of the editor. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

/* ---- The channel: counts are enough. --------------------------------------------------------- */

struct channel {
    bool broken;
    bool closed;
    uint32_t items;
    uint32_t permits;
    struct rt_slot receiver;
};

static void
wake_if_idle(struct channel *channel)
{
    if (channel->closed && channel->permits == 0) {
        rt_slot_wake(&channel->receiver);
    }
}

static void
permit_send(struct channel *channel)
{
    channel->permits--;
    channel->items++;
    rt_slot_wake(&channel->receiver);
}

static void
permit_release(struct channel *channel)
{
    channel->permits--;
    if (!channel->broken) {
        wake_if_idle(channel);
    }
}

/* READY: an item was taken, or there is none and will be none. */
static rt_poll
recv_poll(struct channel *channel, struct rt_cx *cx, bool *ret_end)
{
    *ret_end = channel->closed && channel->permits == 0 && channel->items == 0;
    if (*ret_end) {
        return RT_READY;
    }
    if (channel->items > 0) {
        channel->items--;
        SIM_PROGRESS();
        return RT_READY;
    }
    rt_slot_replace(&channel->receiver, cx, "an article");
    return RT_PENDING;
}

/* ---- An author and an editor. ---------------------------------------------------------------- */

struct journal {
    struct channel channel;
    struct rt_task author;
    struct rt_sleep pondering;
    bool has_idea;
    struct rt_task editor;
    struct rt_sleep deadline;
};

static rt_poll
author_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct journal *journal = rt_container_of(task, struct journal, author);
    RT_AWAIT(rt_sleep_poll(&journal->pondering, cx));
    if (journal->has_idea) {
        permit_send(&journal->channel);
    } else {
        permit_release(&journal->channel);
    }
    return RT_READY;
}

static rt_poll
editor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct journal *journal = rt_container_of(task, struct journal, editor);
    bool end = false;
    if (!journal->channel.closed) {
        RT_AWAIT(rt_sleep_poll(&journal->deadline, cx));
        journal->channel.closed = true;
    }
    while (!end) {
        RT_AWAIT(recv_poll(&journal->channel, cx, &end));
    }
    return RT_READY;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct journal *journal = sim_new(world, struct journal);
    journal->channel.broken = broken;
    journal->channel.permits = 1;
    journal->has_idea = sim_pick(world, 2) == 0;
    rt_slot_init(&journal->channel.receiver);
    rt_sleep_init(&journal->pondering, sim_range(world, 0, 2 * RT_MS));
    rt_sleep_init(&journal->deadline, RT_MS);
    rt_task_init(&journal->author, author_poll, NULL, "author");
    rt_task_init(&journal->editor, editor_poll, NULL, "editor");
    sim_spawn(rt, &journal->author);
    sim_spawn(rt, &journal->editor);
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

SIM_SCENARIO(zoo_tokio_2854_broken, .name = "zoo/tokio-2854/broken", .bug = "A18",
        .reference = "tokio-rs/tokio#2854",
        .about = "The last permit of a closed channel is released unused, and wakes no task.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(zoo_tokio_2854_fixed, .name = "zoo/tokio-2854/fixed",
        .about = "Every release of a permit checks whether it was the last one.",
        .setup = setup_fixed);
