/*
 * facts.c -- names and reasons that read like what rewake prints.
 *
 *   facts/lost      a reader waits for "step 2 of the handshake", and its wake is lost
 *   facts/many      200 tasks with names in UTF-8 wait for each other
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/rewake.h"

struct line {
    struct rt_slot reader;
    bool sent;
};

struct end {
    struct rt_task task;
    struct line *line;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct end *end = rt_container_of(task, struct end, task);
    if (!end->line->sent) {
        rt_slot_replace(&end->line->reader, cx, "step 2 of the handshake");
        return RT_PENDING;
    }
    SIM_PROGRESS();
    return RT_READY;
}

/* The bug: it does not wake the reader. */
static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct end *end = rt_container_of(task, struct end, task);
    (void)cx;
    end->line->sent = true;
    return RT_READY;
}

static struct line *
line_new(struct sim_world *world)
{
    struct line *line = sim_new(world, struct line);
    rt_slot_init(&line->reader);
    return line;
}

static void
add(struct sim_world *world, struct sim_rt *rt, struct line *line, rt_poll_fn poll,
        const char *name)
{
    struct end *end = sim_new(world, struct end);
    end->line = line;
    rt_task_init(&end->task, poll, NULL, name);
    sim_spawn(rt, &end->task);
}

static void
lost_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, &(struct sim_rt_options){.capacity = 512});
    struct line *line = line_new(world);
    add(world, rt, line, reader_poll, "beta' waits for: x; 'y");
    add(world, rt, line, sender_poll, "`step 1` of gr\xc3\xbc\xc3\x9f");
}

SIM_SCENARIO(facts_lost, .name = "facts/lost", .about = "A name and a reason that mislead.",
        .setup = lost_setup, .expect = SIM_VERDICT_LOST_WAKEUP);

#define MANY 200

static void
many_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, &(struct sim_rt_options){.capacity = 512});
    for (int i = 0; i < MANY; i++) {
        char *name = sim_alloc(world, 64);
        (void)snprintf(name, 64, "\xd0\xb7\xd0\xb0\xd0\xb4\xd0\xb0\xd1\x87\xd0\xb0 %d", i);
        add(world, rt, line_new(world), reader_poll, name);
    }
}

SIM_SCENARIO(facts_many, .name = "facts/many", .about = "200 tasks that no task wakes.",
        .setup = many_setup, .expect = SIM_VERDICT_DEADLOCK);
