/*
 * fd_fixture.h -- a fake host with descriptors, for loops that use them directly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/tests/host/host_lab.h"

struct fd_fixture {
    struct sim_host *host;
    struct sim_fds *fds;
    struct sim_fd_event events[8];
    int pair[2];
};

/* With a new host, in the run's memory; it is the world's state. */
struct fd_fixture *fd_fixture_new(struct sim_world *world);

/* A scenario of one loop, whose argument is the fixture. */
#define SCENARIO(identifier, loop) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "loop", loop, fd_fixture_new(world)); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "A loop uses descriptors.", \
            .setup = identifier##_setup, \
            .profile = SIM_PROFILE_FD}

/* Opens fixture->pair, without latency. */
void fd_fixture_pair(struct fd_fixture *fixture);

/* Writes all of `text`, in several calls if necessary. */
void fd_fixture_write(struct fd_fixture *fixture, int fd, const char *text);

/* Reads until nothing is left, and returns how many bytes there were. */
size_t fd_fixture_drain(struct fd_fixture *fixture, int fd);

/* Fetches at most 8 events into fixture->events, and returns how many there are. */
uint32_t fd_fixture_fetch(struct fd_fixture *fixture, uint64_t timeout_ns);
