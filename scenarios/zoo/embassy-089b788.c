/*
 * embassy-089b788.c -- `!len == capacity`: the check for free space always fails.
 *
 * embassy-rs/embassy commit 089b788 (Channel::poll_ready_to_send).
 *
 * The bug. Ready to send should mean "the length is not the capacity". `!len == capacity` flips
 * the bits of the length and compares those: the channel is never ready, not even when it is
 * empty.
 *
 * The fix. `len != capacity`: `has_space` below.
 *
 * Here. A sender waits until a mailbox can take a letter, and puts it in; the receiver takes
 * letters out. The sender tries first, and waits only when the mailbox is full.
 *
 * Cause: not-a-wake in has_space or ready_to_send_poll
 * Must end in: deadlock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CAPACITY 2u
#define LETTERS 5u

struct mailbox {
    bool broken;
    uint32_t length;
    struct rt_slot sender;
    struct rt_slot receiver;
    struct rt_task writer;
    struct rt_task reader;
    uint32_t written;
    uint32_t read;
    bool waits; /* The writer found it full. */
};

static bool
has_space(const struct mailbox *mailbox)
{
    return mailbox->broken ? ~mailbox->length == CAPACITY : mailbox->length != CAPACITY;
}

static rt_poll
ready_to_send_poll(struct mailbox *mailbox, struct rt_cx *cx)
{
    if (has_space(mailbox)) {
        return RT_READY;
    }
    rt_slot_replace(&mailbox->sender, cx, "space in the mailbox");
    return RT_PENDING;
}

static bool
try_send(struct mailbox *mailbox)
{
    if (mailbox->length == CAPACITY) {
        return false;
    }
    mailbox->length++;
    rt_slot_wake(&mailbox->receiver);
    return true;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct mailbox *mailbox = rt_container_of(task, struct mailbox, writer);
    while (mailbox->written < LETTERS) {
        if (mailbox->waits) {
            RT_AWAIT(ready_to_send_poll(mailbox, cx));
            mailbox->waits = false;
        }
        if (!try_send(mailbox)) {
            mailbox->waits = true;
            continue;
        }
        mailbox->written++;
        rt_cx_reenqueue(cx); /* Others first. */
        return RT_PENDING;
    }
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct mailbox *mailbox = rt_container_of(task, struct mailbox, reader);
    while (mailbox->read < LETTERS) {
        if (mailbox->length == 0) {
            rt_slot_replace(&mailbox->receiver, cx, "a letter");
            return RT_PENDING;
        }
        mailbox->length--;
        mailbox->read++;
        SIM_PROGRESS();
        rt_slot_wake(&mailbox->sender);
    }
    return RT_READY;
}

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mailbox *mailbox = sim_new(world, struct mailbox);
    mailbox->broken = broken;
    rt_slot_init(&mailbox->sender);
    rt_slot_init(&mailbox->receiver);
    rt_task_init(&mailbox->writer, writer_poll, NULL, "writer");
    rt_task_init(&mailbox->reader, reader_poll, NULL, "reader");
    sim_spawn(rt, &mailbox->writer);
    sim_spawn(rt, &mailbox->reader);
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

SIM_SCENARIO(zoo_embassy_089b788_broken, .name = "zoo/embassy-089b788/broken", .bug = "A21",
        .reference = "embassy-rs/embassy 089b788",
        .about = "A mailbox that was full once is never ready again.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_embassy_089b788_fixed, .name = "zoo/embassy-089b788/fixed",
        .about = "A mailbox is ready when it is not full.", .setup = setup_fixed);
