/*
 * host_story.h -- a fake host with three sources, for loops that call its seam themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_TESTS_HOST_HOST_STORY_H
#define SIM_TESTS_HOST_HOST_STORY_H

#include "sim/tests/host/host_lab.h"

/* What such a loop works with. */
struct host_story {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_source *sources[3];
    struct rt_pollable pollables[3];
    uint32_t ready;
    uint32_t indices[8];
};

/* One with a host of its own, in the run's memory. */
struct host_story *host_story_new(struct sim_world *world);

/* A pollable of each source; gives them back. */
void host_story_subscribe_all(struct host_story *story);
void host_story_drop_all(struct host_story *story);

/* Polls the given places of story->pollables: "02" is the first and the last. */
void host_story_poll(struct host_story *story, const char *places);

#endif
