/*
 * watermark.c -- a log writer that is woken for every fourth line, and by the clock.
 *
 * To wake the writer for each line would cost too much. Authors wake it when four lines are there;
 * what is less waits for the writer's next tick, which comes every 2 ms. Each poll of the writer
 * writes all lines that it finds. So a line waits for 2 ms at most, which the scenario declares as
 * its slack, and the last author wakes the writer for what is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define AUTHORS 2u
#define LINES 6u
#define MARK 4u
#define TICK_NS (2 * RT_MS)

struct journal {
    struct sim_world *world;
    uint32_t lines;
    uint32_t authors;
    struct rt_slot changed;
};

struct writer {
    struct rt_task task;
    struct journal *journal;
    struct rt_interval ticks;
    uint32_t written;
};

struct author {
    struct rt_task task;
    struct journal *journal;
    struct rt_sleep sleep;
    uint32_t line;
    uint32_t at;
};

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    struct journal *journal = writer->journal;
    if (journal->lines > 0) {
        writer->written += journal->lines;
        journal->lines = 0;
        SIM_PROGRESS();
    }
    if (journal->authors == 0) {
        SIM_ALWAYS(writer->written == AUTHORS * LINES);
        rt_interval_cancel(&writer->ticks);
        return RT_READY;
    }
    rt_slot_replace(&journal->changed, cx, "four lines, or the last");
    while (rt_interval_poll(&writer->ticks, cx, NULL) == RT_READY) {
    }
    return RT_PENDING;
}

static rt_poll
author_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct author *author = rt_container_of(task, struct author, task);
    struct journal *journal = author->journal;
    RT_BEGIN(author->at);
    for (author->line = 0; author->line < LINES; author->line++) {
        rt_sleep_init(&author->sleep, sim_range(journal->world, 0, 2 * RT_MS));
        RT_AWAIT_HERE(author->at, rt_sleep_poll(&author->sleep, cx));
        if (++journal->lines >= MARK) {
            rt_slot_wake(&journal->changed);
        }
    }
    if (--journal->authors == 0) {
        rt_slot_wake(&journal->changed);
    }
    RT_END(author->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[AUTHORS] = {"author 1", "author 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct journal *journal = sim_new(world, struct journal);
    struct writer *writer = sim_new(world, struct writer);
    journal->world = world;
    journal->authors = AUTHORS;
    rt_slot_init(&journal->changed);
    writer->journal = journal;
    rt_interval_init(&writer->ticks, TICK_NS, TICK_NS, RT_MISSED_SKIP);
    rt_task_init(&writer->task, writer_poll, NULL, "writer");
    sim_spawn(rt, &writer->task);
    for (uint32_t i = 0; i < AUTHORS; i++) {
        struct author *author = sim_new(world, struct author);
        author->journal = journal;
        rt_task_init(&author->task, author_poll, NULL, names[i]);
        sim_spawn(rt, &author->task);
    }
}

SIM_SCENARIO(correct_watermark, .name = "correct/watermark",
        .about = "A writer that is woken for every fourth line, and by a tick.", .setup = setup,
        .slack_ns = TICK_NS);
