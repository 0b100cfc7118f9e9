/*
 * step_limit.c -- a canary: a reader that follows links, and a page that links back.
 *
 * Each page is read and counted, so there is progress at every step and it is no livelock; but the
 * reader does not remember the pages it has read, and follows a cycle until the run is cut off.
 *
 * A run that is cut off has taken a million steps, a thousand times as many as other runs. So this
 * canary fails rarely: in about one run of 64.
 *
 * Must end in: step-limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PAGES 4

struct reader {
    struct rt_task task;
    uint32_t links[PAGES]; /* To the next page; PAGES: the end. */
    uint32_t page;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    if (reader->page == PAGES) {
        return RT_READY;
    }
    reader->page = reader->links[reader->page];
    SIM_PROGRESS();
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reader *reader = sim_new(world, struct reader);
    for (uint32_t i = 0; i < PAGES; i++) {
        reader->links[i] = i + 1;
    }
    if (sim_pick(world, 64) == 63) {
        reader->links[PAGES - 1] = 0;
    }
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(rt, &reader->task);
}

SIM_SCENARIO(canary_step_limit, .name = "canary/step-limit",
        .about =
                "A task makes progress at each step and never ends; rarely, as that is a long run.",
        .setup = setup, .expect = SIM_VERDICT_STEP_LIMIT);
