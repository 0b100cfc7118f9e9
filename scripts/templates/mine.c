/*
 * mine.c -- a mailbox, broken and fixed: look for a letter, and wait until there is one.
 *
 * The reader looks into the box, has something else to do, and waits. In the broken form it
 * waits without another look: a letter that came in between found no waker.
 *
 *      rewake run ./mine.so mine/broken        finds it, tells it
 *      rewake run ./mine.so --expect           holds each scenario to what it states
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sim/rewake.h>

struct box {
    struct rt_slot reader; /* The waker of the task that waits for a letter. */
    unsigned letters;
};

struct reader {
    struct rt_task task;
    struct box *box;
    bool broken;
    bool has_looked;
};

struct writer {
    struct rt_task task;
    struct box *box;
    bool has_come;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct box *box = reader->box;
    if (!reader->has_looked || !reader->broken) {
        if (box->letters > 0) {
            box->letters--;
            return RT_READY;
        }
    }
    if (!reader->has_looked) {
        reader->has_looked = true;
        rt_cx_reenqueue(cx); /* Something else to do: others go first. */
        return RT_PENDING;
    }
    reader->has_looked = false;
    rt_slot_replace(&box->reader, cx, "a letter");
    return RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    if (!writer->has_come) {
        writer->has_come = true;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    writer->box->letters++;
    rt_slot_wake(&writer->box->reader);
    return RT_READY;
}

static void
set_up(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    struct reader *reader = sim_new(world, struct reader);
    struct writer *writer = sim_new(world, struct writer);
    rt_slot_init(&box->reader);
    reader->box = box;
    reader->broken = broken;
    writer->box = box;
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &reader->task);
    sim_spawn(rt, &writer->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "mine/broken", .about = "The reader waits without a second look.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "mine/fixed", .about = "The reader looks once more, then waits.",
        .setup = set_up_fixed);
