/*
 * host_story.c -- making it, and asking.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_story.h"

#include <string.h>

struct host_story *
host_story_new(struct sim_world *world)
{
    static const char *const names[3] = {"a", "b", "c"};
    struct host_story *story = sim_new(world, struct host_story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->seam = sim_host_seam(story->host);
    for (uint32_t i = 0; i < 3; i++) {
        story->sources[i] = sim_source_new(story->host, names[i]);
    }
    return story;
}

void
host_story_subscribe_all(struct host_story *story)
{
    for (uint32_t i = 0; i < 3; i++) {
        GOES_WELL(sim_source_subscribe(story->sources[i], &story->pollables[i]));
    }
}

void
host_story_drop_all(struct host_story *story)
{
    for (uint32_t i = 0; i < 3; i++) {
        rt_pollable_drop(&story->pollables[i]);
    }
}

void
host_story_poll(struct host_story *story, const char *places)
{
    struct rt_pollable *list[8];
    uint32_t count = (uint32_t)strlen(places);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = &story->pollables[places[i] - '0'];
    }
    GOES_WELL(story->seam->ops->poll(story->seam, list, count, story->indices, &story->ready));
    EXPECT(story->ready >= 1);
    EXPECT(story->ready <= count);
    for (uint32_t i = 0; i < story->ready; i++) {
        EXPECT(story->indices[i] < count);
    }
}
