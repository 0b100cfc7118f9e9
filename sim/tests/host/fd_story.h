/*
 * fd_story.h -- a fake host with descriptors, for loops that ask them themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_TESTS_HOST_FD_STORY_H
#define SIM_TESTS_HOST_FD_STORY_H

#include "sim/tests/host/host_lab.h"

struct fd_story {
    struct sim_host *host;
    struct sim_fds *fds;
    struct sim_fd_event events[8];
    int pair[2];
};

/* One with a host of its own, in the run's memory; the world's state. */
struct fd_story *fd_story_new(struct sim_world *world);

/* A scenario of one loop, whose function finds the story in the world's state. */
#define STORY(identifier, loop) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "loop", loop, fd_story_new(world)); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "A story about descriptors.", \
            .setup = identifier##_setup, \
            .profile = SIM_PROFILE_FD}

/* Opens story->pair, in which bytes arrive at once. */
void fd_story_pair(struct fd_story *story);

/* Writes all of `text`, however often it takes. */
void fd_story_write(struct fd_story *story, int fd, const char *text);

/* Reads until nothing is there, and returns how many bytes there were. */
size_t fd_story_drain(struct fd_story *story, int fd);

/* Fetches at most 8 events into story->events, and returns how many there are. */
uint32_t fd_story_fetch(struct fd_story *story, uint64_t timeout_ns);

#endif
