/*
 * markup.c -- a library whose names and words would be a page of their own, if a report let them:
 * scripts, attributes, ends of elements, bytes that are no UTF-8, marks that turn the direction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/rewake.h"

#define REST \
    "<script>document.title='broken'</script></svg></style></main>" \
    "<img src=x onerror=alert(1)>"

struct story {
    struct rt_task waiter;
    struct rt_task writer;
    struct rt_slot slot;
    struct sim_world *world;
    bool come;
    uint32_t polls;
    char name[600];
};

/* Looks first, and stores its waker one poll later: what comes in between is lost. */
static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, waiter);
    bool stores = story->polls++ == 1;
    if (story->come && !stores) {
        return RT_READY;
    }
    if (!stores) {
        sim_log(story->world, "%s", "\"'`" REST "\xff\xfe\xe2\x80\xae");
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    rt_slot_replace(&story->slot, cx, "a \"thing\" " REST);
    return RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, writer);
    (void)cx;
    story->come = true;
    (void)rt_slot_wake(&story->slot);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    story->world = world;
    memset(story->name, 'x', sizeof(story->name) - 1);
    memcpy(story->name, REST, strlen(REST));
    rt_slot_init(&story->slot);
    rt_task_init(&story->waiter, waiter_poll, NULL, story->name);
    rt_task_init(&story->writer, writer_poll, NULL, "\" onload=\"alert(1)\xc3");
    sim_spawn(rt, &story->waiter);
    sim_spawn(rt, &story->writer);
}

SIM_SCENARIO(markup, .name = "odd/markup", .about = "Sleeps under a name that is markup.",
        .setup = setup);
