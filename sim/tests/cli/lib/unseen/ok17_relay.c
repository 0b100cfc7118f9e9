/*
 * A mailbox with two readers, each with a slot of its own. A letter wakes one of them only, and
 * the one that takes a letter wakes whoever waits, to look for another one. A reader that finds
 * nothing gives way once, and looks again before it waits.
 */
#include <sim/rewake.h>

#define LETTERS 2

struct box {
    struct rt_slot newest;
    struct rt_slot older;
    unsigned letters;
};

struct reader {
    struct rt_task task;
    struct box *box;
    struct rt_slot *waits_in;
    bool has_looked;
};

struct writer {
    struct rt_task task;
    struct box *box;
    struct rt_sleep sleep;
    uint64_t pause_ns[LETTERS];
    uint32_t next;
    uint32_t at;
};

static bool
reader_take(struct reader *reader)
{
    struct box *box = reader->box;
    if (box->letters == 0) {
        return false;
    }
    box->letters--;
    rt_slot_wake(&box->older);
    rt_slot_wake(&box->newest);
    return true;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    if (reader_take(reader)) {
        return RT_READY;
    }
    if (!reader->has_looked) {
        reader->has_looked = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    reader->has_looked = false;
    rt_slot_replace(reader->waits_in, cx, "a letter");
    return RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    RT_BEGIN(writer->at);
    for (writer->next = 0; writer->next < LETTERS; writer->next++) {
        rt_sleep_init(&writer->sleep, writer->pause_ns[writer->next]);
        RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->sleep, cx));
        writer->box->letters++;
        if (!rt_slot_wake(&writer->box->newest)) {
            rt_slot_wake(&writer->box->older);
        }
    }
    RT_END(writer->at);
}

static void
set_up(struct sim_world *world)
{
    static const char *const names[] = {"reader 1", "reader 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    struct writer *writer = sim_new(world, struct writer);
    rt_slot_init(&box->newest);
    rt_slot_init(&box->older);
    for (uint32_t i = 0; i < 2; i++) {
        struct reader *reader = sim_new(world, struct reader);
        reader->box = box;
        reader->waits_in = i == 0 ? &box->older : &box->newest;
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
    writer->box = box;
    for (uint32_t i = 0; i < LETTERS; i++) {
        writer->pause_ns[i] = sim_range(world, 0, 2 * RT_MS);
    }
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &writer->task);
}

SIM_SCENARIO(relay, .name = "ok17/relay", .about = "Two readers, two slots.", .setup = set_up);

/* SPDX-License-Identifier: Apache-2.0 */
