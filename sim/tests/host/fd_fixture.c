/*
 * fd_fixture.c -- making it, reading, writing, waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/fd_fixture.h"

#include <string.h>

struct fd_fixture *
fd_fixture_new(struct sim_world *world)
{
    struct fd_fixture *fixture = sim_new(world, struct fd_fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->fds = sim_fds_new(fixture->host, 3);
    sim_set_state(world, fixture);
    return fixture;
}

void
fd_fixture_pair(struct fd_fixture *fixture)
{
    EXPECT_OK(sim_fd_pair(fixture->fds, "pair", 0, 0, fixture->pair));
}

void
fd_fixture_write(struct fd_fixture *fixture, int fd, const char *text)
{
    size_t size = strlen(text);
    size_t done = 0;
    while (done < size) {
        int64_t moved = sim_fd_write(fixture->fds, fd, text + done, size - done);
        EXPECT(moved > 0);
        done += (size_t)moved;
    }
}

size_t
fd_fixture_drain(struct fd_fixture *fixture, int fd)
{
    char buffer[64];
    size_t size = 0;
    int64_t moved = 0;
    while ((moved = sim_fd_read(fixture->fds, fd, buffer, sizeof buffer)) > 0) {
        size += (size_t)moved;
    }
    return size;
}

uint32_t
fd_fixture_fetch(struct fd_fixture *fixture, uint64_t timeout_ns)
{
    return sim_fd_wait(fixture->fds, fixture->events, 8, timeout_ns);
}
