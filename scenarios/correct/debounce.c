/*
 * debounce.c -- a document is saved when its author has not typed for a while.
 *
 * Each key arms the timer of the saver again. The saver checks the number of keys first and at
 * its timer afterwards, and it stores a waker for the next key before it waits for the time, so a
 * key always moves the deadline. When the author leaves, what is left is saved at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define KEYS 6u
#define QUIET_NS (3 * RT_MS)

struct document {
    struct sim_world *world;
    uint32_t typed;
    bool left; /* The author has gone. */
    struct rt_slot changed;
};

struct saver {
    struct rt_task task;
    struct document *document;
    struct rt_sleep quiet;
    bool armed;
    uint32_t seen;
    uint32_t saved;
};

struct author {
    struct rt_task task;
    struct document *document;
    struct rt_sleep pause;
    uint32_t at;
};

static void
saver_save(struct saver *saver)
{
    rt_sleep_cancel(&saver->quiet);
    saver->armed = false;
    if (saver->saved != saver->seen) {
        saver->saved = saver->seen;
        SIM_PROGRESS();
    }
}

static rt_poll
saver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct saver *saver = rt_container_of(task, struct saver, task);
    struct document *document = saver->document;
    if (saver->seen != document->typed) {
        saver->seen = document->typed;
        rt_sleep_cancel(&saver->quiet);
        rt_sleep_init(&saver->quiet, QUIET_NS);
        saver->armed = true;
    }
    if (document->left) {
        saver_save(saver);
        SIM_ALWAYS(saver->saved == KEYS);
        return RT_READY;
    }
    rt_slot_replace(&document->changed, cx, "a key");
    if (saver->armed && rt_sleep_poll(&saver->quiet, cx) == RT_READY) {
        saver_save(saver);
    }
    return RT_PENDING;
}

static rt_poll
author_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct author *author = rt_container_of(task, struct author, task);
    struct document *document = author->document;
    RT_BEGIN(author->at);
    while (document->typed < KEYS) {
        rt_sleep_init(&author->pause, sim_range(document->world, RT_MS, 5 * RT_MS));
        RT_AWAIT_HERE(author->at, rt_sleep_poll(&author->pause, cx));
        document->typed++;
        rt_slot_wake(&document->changed);
    }
    rt_sleep_init(&author->pause, sim_range(document->world, 0, 5 * RT_MS));
    RT_AWAIT_HERE(author->at, rt_sleep_poll(&author->pause, cx));
    document->left = true;
    rt_slot_wake(&document->changed);
    RT_END(author->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct document *document = sim_new(world, struct document);
    struct saver *saver = sim_new(world, struct saver);
    struct author *author = sim_new(world, struct author);
    document->world = world;
    rt_slot_init(&document->changed);
    saver->document = author->document = document;
    rt_sleep_init(&saver->quiet, 0);
    rt_task_init(&saver->task, saver_poll, NULL, "saver");
    rt_task_init(&author->task, author_poll, NULL, "author");
    sim_spawn(rt, &saver->task);
    sim_spawn(rt, &author->task);
}

SIM_SCENARIO(correct_debounce, .name = "correct/debounce",
        .about = "A timer that each key arms again.", .setup = setup);
