/* Cause: story_drop(), line 63: a story that is given up at the end of the editor's patience drops its two receives, but a headline that was received already goes with it; its photo then has no headline, the editor waits for one over and over, and the page is never full; repair: the headline goes back to the desk, from where the next story takes it. */
/*
 * A press room: headlines and photos come in by two channels; an editor makes stories of one each.
 * When a story takes too long he looks at the clock and begins again.
 */
#include <sim/rewake.h>

#define STORIES 2u
#define CAPACITY 4u

struct desk {
    struct rt_channel headlines;
    struct rt_channel photos;
    uint32_t headline_ring[CAPACITY];
    uint32_t photo_ring[CAPACITY];
    uint32_t headline; /* One that lies on the desk; 0: none. */
    bool fixed;
};

/* A headline, then a photo. */
struct story {
    struct rt_future future;
    struct desk *desk;
    struct rt_recv headline_recv;
    struct rt_recv photo_recv;
    uint32_t headline;
    uint32_t photo;
};

struct editor {
    struct rt_task task;
    struct desk *desk;
    struct story story;
    struct rt_timeout timeout;
    uint32_t printed;
    uint32_t at;
};

struct agency {
    struct rt_task task;
    struct rt_channel *to;
    struct rt_sleep sleep;
    uint64_t pause_ns[STORIES];
    uint32_t next;
    uint32_t item;
    uint32_t at;
};

static rt_poll
story_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct story *story = rt_container_of(future, struct story, future);
    if (story->headline == 0) {
        RT_AWAIT(rt_recv_poll(&story->headline_recv, cx));
    }
    return rt_recv_poll(&story->photo_recv, cx);
}

static void
story_drop(struct rt_future *future)
{
    struct story *story = rt_container_of(future, struct story, future);
    rt_recv_drop(&story->headline_recv);
    rt_recv_drop(&story->photo_recv);
    if (story->desk->fixed) {
        story->desk->headline = story->headline;
    }
}

static void
story_init(struct story *story, struct desk *desk)
{
    story->desk = desk;
    story->headline = desk->headline;
    desk->headline = 0;
    rt_recv_init(&story->headline_recv, &desk->headlines, &story->headline);
    rt_recv_init(&story->photo_recv, &desk->photos, &story->photo);
    rt_future_init(&story->future, story_poll, story_drop, "a story");
}

static rt_poll
editor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct editor *editor = rt_container_of(task, struct editor, task);
    RT_BEGIN(editor->at);
    while (editor->printed < STORIES) {
        story_init(&editor->story, editor->desk);
        rt_timeout_init(&editor->timeout, &editor->story.future, 4 * RT_MS);
        RT_AWAIT_HERE(editor->at, rt_timeout_poll(&editor->timeout, cx));
        if (!editor->timeout.expired) {
            SIM_ALWAYS(editor->story.headline == editor->story.photo);
            editor->printed++;
        }
    }
    RT_END(editor->at);
}

static rt_poll
agency_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct agency *agency = rt_container_of(task, struct agency, task);
    RT_BEGIN(agency->at);
    for (agency->next = 0; agency->next < STORIES; agency->next++) {
        rt_sleep_init(&agency->sleep, agency->pause_ns[agency->next]);
        RT_AWAIT_HERE(agency->at, rt_sleep_poll(&agency->sleep, cx));
        agency->item = agency->next + 1;
        SIM_ALWAYS(rt_channel_try_send(agency->to, &agency->item) == RT_OK);
    }
    RT_END(agency->at);
}

static void
agency_new(struct sim_world *world, struct sim_rt *rt, struct rt_channel *to, const char *name,
        uint64_t shortest_ns)
{
    struct agency *agency = sim_new(world, struct agency);
    agency->to = to;
    rt_channel_add_sender(to);
    for (uint32_t i = 0; i < STORIES; i++) {
        agency->pause_ns[i] = sim_range(world, shortest_ns, 3 * RT_MS);
    }
    rt_task_init(&agency->task, agency_poll, NULL, name);
    sim_spawn(rt, &agency->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct desk *desk = sim_new(world, struct desk);
    struct editor *editor = sim_new(world, struct editor);
    desk->fixed = fixed;
    rt_channel_init(&desk->headlines, &(struct rt_channel_config){.ring = desk->headline_ring,
                                              .item_size = sizeof(uint32_t),
                                              .capacity = CAPACITY});
    rt_channel_init(&desk->photos, &(struct rt_channel_config){.ring = desk->photo_ring,
                                           .item_size = sizeof(uint32_t),
                                           .capacity = CAPACITY});
    rt_channel_add_receiver(&desk->headlines);
    rt_channel_add_receiver(&desk->photos);
    editor->desk = desk;
    rt_task_init(&editor->task, editor_poll, NULL, "editor");
    sim_spawn(rt, &editor->task);
    agency_new(world, rt, &desk->headlines, "writers", RT_MS);
    agency_new(world, rt, &desk->photos, "photographers", RT_MS);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s17/pressroom/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/pressroom/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
