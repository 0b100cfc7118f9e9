/*
 * fd_story.c -- making it, and asking.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/fd_story.h"

#include <string.h>

struct fd_story *
fd_story_new(struct sim_world *world)
{
    struct fd_story *story = sim_new(world, struct fd_story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->fds = sim_fds_new(story->host, 3);
    sim_set_state(world, story);
    return story;
}

void
fd_story_pair(struct fd_story *story)
{
    GOES_WELL(sim_fd_pair(story->fds, "pair", 0, 0, story->pair));
}

void
fd_story_write(struct fd_story *story, int fd, const char *text)
{
    size_t size = strlen(text);
    size_t done = 0;
    while (done < size) {
        int64_t moved = sim_fd_write(story->fds, fd, text + done, size - done);
        EXPECT(moved > 0);
        done += (size_t)moved;
    }
}

size_t
fd_story_drain(struct fd_story *story, int fd)
{
    char buffer[64];
    size_t size = 0;
    int64_t moved = 0;
    while ((moved = sim_fd_read(story->fds, fd, buffer, sizeof buffer)) > 0) {
        size += (size_t)moved;
    }
    return size;
}

uint32_t
fd_story_fetch(struct fd_story *story, uint64_t timeout_ns)
{
    return sim_fd_wait(story->fds, story->events, 8, timeout_ns);
}
