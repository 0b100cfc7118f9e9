/*
 * crash.c -- a canary: a null pointer is read if the reader runs before every author.
 *
 * The process that makes the run dies. The sweep continues in another one, and the parent reports
 * the seed and the events up to the crashing step.
 *
 * Must end in: crash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define AUTHORS 4

struct page {
    uint32_t words;
};

struct book {
    const struct page *latest; /* NULL until an author has set it. */
};

struct author {
    struct rt_task task;
    struct page page;
    struct book *book;
};

struct reader {
    struct rt_task task;
    struct book *book;
    uint32_t words;
};

static rt_poll
author_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct author *author = rt_container_of(task, struct author, task);
    (void)cx;
    author->page.words = 300;
    author->book->latest = &author->page;
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    (void)cx;
    reader->words = reader->book->latest->words;
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    static const char *const names[AUTHORS] = {"author 1", "author 2", "author 3", "author 4"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct book *book = sim_new(world, struct book);
    struct reader *reader = sim_new(world, struct reader);
    for (uint32_t i = 0; i < AUTHORS; i++) {
        struct author *author = sim_new(world, struct author);
        author->book = book;
        rt_task_init(&author->task, author_poll, NULL, names[i]);
        sim_spawn(rt, &author->task);
    }
    reader->book = book;
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(rt, &reader->task);
}

SIM_SCENARIO(canary_crash, .name = "canary/crash",
        .about = "A task reads through a pointer that another one has not set yet.", .setup = setup,
        .expect = SIM_VERDICT_CRASH);
