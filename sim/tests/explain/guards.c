/*
 * guards.c -- tasks that are not woken because of one condition, decided on what is not so any
 * more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include "sim/core/world.h"
#include "sim/rewake.h"

#line 1 "hand/guards.c"

/* ---- Who puts an item in believes that the reader is awake. ---------------------------------- */

struct box {
    struct rt_task reader;
    struct rt_task writer;
    struct rt_slot slot;
    struct rt_sleep pause;
    uint32_t at;
    uint32_t items;
    uint32_t taken;
    bool busy; /* The reader is awake, or will be; it forgets to reset that. */
};

static rt_poll
box_reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct box *box = rt_container_of(task, struct box, reader);
    while (box->taken < 2) {
        if (box->taken == box->items) {
            rt_slot_replace(&box->slot, cx, "an item");
            return RT_PENDING;
        }
        box->taken++;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static void
box_put(struct box *box)
{
    box->items++;
    if (box->busy) {
        return;
    }
    box->busy = true;
    rt_slot_wake(&box->slot);
}

static rt_poll
box_writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct box *box = rt_container_of(task, struct box, writer);
    RT_BEGIN(box->at);
    while (box->items < 2) {
        rt_sleep_init(&box->pause, RT_MS);
        RT_AWAIT_HERE(box->at, rt_sleep_poll(&box->pause, cx));
        box_put(box);
    }
    RT_END(box->at);
}

static void
busy_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    rt_slot_init(&box->slot);
    rt_task_init(&box->reader, box_reader_poll, NULL, "reader");
    rt_task_init(&box->writer, box_writer_poll, NULL, "writer");
    sim_spawn(rt, &box->reader);
    sim_spawn(rt, &box->writer);
}

const struct sim_scenario explain_busy = {.name = "explain/busy", .setup = busy_setup};

/* ---- A flag is lowered again before one that was away has seen it. --------------------------- */

struct news {
    struct rt_task watcher;
    struct rt_task present; /* It is there, and sees the flag. */
    struct rt_task teller;
    struct rt_slot slots[2];
    struct rt_sleep away;
    struct rt_sleep pause;
    uint32_t at[2];
    bool raised;
};

static rt_poll
news_wait(struct news *news, struct rt_slot *slot, struct rt_cx *cx)
{
    if (news->raised) {
        return RT_READY;
    }
    rt_slot_replace(slot, cx, "news");
    return RT_PENDING;
}

static rt_poll
news_present_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news *news = rt_container_of(task, struct news, present);
    return news_wait(news, &news->slots[1], cx);
}

static rt_poll
news_watcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news *news = rt_container_of(task, struct news, watcher);
    RT_BEGIN(news->at[0]);
    RT_AWAIT_HERE(news->at[0], rt_sleep_poll(&news->away, cx));
    RT_AWAIT_HERE(news->at[0], news_wait(news, &news->slots[0], cx));
    RT_END(news->at[0]);
}

static rt_poll
news_teller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct news *news = rt_container_of(task, struct news, teller);
    RT_BEGIN(news->at[1]);
    RT_AWAIT_HERE(news->at[1], rt_sleep_poll(&news->pause, cx));
    news->raised = true;
    rt_slot_wake(&news->slots[0]);
    rt_slot_wake(&news->slots[1]);
    rt_sleep_init(&news->pause, RT_MS);
    RT_AWAIT_HERE(news->at[1], rt_sleep_poll(&news->pause, cx));
    news->raised = false;
    RT_END(news->at[1]);
}

static void
lowered_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct news *news = sim_new(world, struct news);
    rt_slot_init(&news->slots[0]);
    rt_slot_init(&news->slots[1]);
    rt_sleep_init(&news->away, sim_pick(world, 2) == 0 ? RT_MS : 5 * RT_MS);
    rt_sleep_init(&news->pause, 2 * RT_MS);
    rt_task_init(&news->watcher, news_watcher_poll, NULL, "watcher");
    rt_task_init(&news->present, news_present_poll, NULL, "present");
    rt_task_init(&news->teller, news_teller_poll, NULL, "teller");
    sim_spawn(rt, &news->watcher);
    sim_spawn(rt, &news->present);
    sim_spawn(rt, &news->teller);
}

const struct sim_scenario explain_lowered = {.name = "explain/lowered", .setup = lowered_setup};

/* ---- All is said to be there when the first answer comes before the second question. --------- */

struct poll {
    uint32_t pending;
    uint32_t answered;
    bool complete;
};

static void
poll_answer(struct poll *poll)
{
    poll->answered++;
    poll->pending--;
    if (poll->pending == 0) {
        poll->complete = true;
    }
}

static void
poll_asker(struct sim_world *world, void *argument)
{
    struct poll *poll = argument;
    bool rests = sim_pick(world, 2) != 0;
    poll->pending++;
    if (rests) {
        sim_sleep(world, 10 * RT_MS);
    }
    poll->pending++;
    while (!poll->complete) {
        sim_sleep(world, RT_MS);
    }
    SIM_ALWAYS(poll->answered == 2);
}

static void
poll_answerer(struct sim_world *world, void *argument)
{
    struct poll *poll = argument;
    while (poll->answered < 2) {
        sim_sleep(world, 7 * RT_MS);
        if (poll->pending > 0) {
            poll_answer(poll);
        }
    }
}

static void
complete_setup(struct sim_world *world)
{
    struct poll *poll = sim_new(world, struct poll);
    (void)sim_loop_new(world, "asker", poll_asker, poll);
    (void)sim_loop_new(world, "answerer", poll_answerer, poll);
}

const struct sim_scenario explain_complete = {.name = "explain/complete", .setup = complete_setup};

/* ---- A worker that gives way, and is not polled again; it could also be told to stop. -------- */

struct chore {
    struct rt_task task;
    struct rt_slot order;
    uint32_t portions;
    bool queues; /* It is polled again after a portion: forgotten. */
    bool stop;
};

static bool
chore_queues(const struct chore *chore)
{
    return chore->queues;
}

static bool
chore_stops(const struct chore *chore)
{
    return chore->stop;
}

static rt_poll
chore_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct chore *chore = rt_container_of(task, struct chore, task);
    SIM_PROGRESS();
    if (++chore->portions == 2) {
        return RT_READY;
    }
    if (chore_queues(chore)) {
        rt_cx_reenqueue(cx);
    }
    if (chore_stops(chore)) {
        return RT_READY;
    }
    chore->queues = false; /* As it gives way. */
    rt_slot_replace(&chore->order, cx, "an order to stop");
    return RT_PENDING;
}

static void
chore_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct chore *chore = sim_new(world, struct chore);
    rt_slot_init(&chore->order);
    rt_task_init(&chore->task, chore_poll, NULL, "chore");
    sim_spawn(rt, &chore->task);
}

const struct sim_scenario explain_chore = {.name = "explain/chore", .setup = chore_setup};
