/*
 * fd_test.c -- fetched batches of descriptors, with the traps of epoll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/fd_fixture.h"

/* Counts over a sweep. */
static struct {
    uint32_t coalesced;
    uint32_t for_nothing;
    uint32_t partial;
} seen;

/* ---- Numbers. -------------------------------------------------------------------------------- */

static void
numbers(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int fd = -1;
    fd_fixture_pair(fixture);
    EXPECT_EQ(fixture->pair[0], 3);
    EXPECT_EQ(fixture->pair[1], 4);
    EXPECT_OK(sim_fd_event_open(fds, "event", &fd));
    EXPECT_EQ(fd, 5);
    EXPECT_OK(sim_fd_close(fds, 4));
    REFUSES(sim_fd_close(fds, 4), RT_E_STALE);
    EXPECT_EQ(sim_fd_read(fds, 4, &fd, 1), RT_E_STALE);
    EXPECT_OK(sim_fd_close(fds, 3));
    EXPECT_OK(sim_fd_dup(fds, 5, &fd));
    EXPECT_EQ(fd, 3);
    EXPECT_OK(sim_fd_event_open(fds, "event", &fd));
    EXPECT_EQ(fd, 4);
    REFUSES(sim_fd_close(fds, 2), RT_E_STALE);
    REFUSES(sim_fd_close(fds, 1000), RT_E_STALE);
}
SCENARIO(numbers_scenario, numbers);

TEST(fd_number_is_the_lowest_that_is_free)
{
    host_lab_pass(&numbers_scenario, 5);
}

static void
too_many(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    int fd = -1;
    for (uint32_t i = 0; i < 1024; i++) {
        EXPECT_OK(sim_fd_event_open(fixture->fds, "event", &fd));
    }
    REFUSES(sim_fd_event_open(fixture->fds, "event", &fd), RT_E_FULL);
    EXPECT_EQ(fd, 3 + 1023);
    EXPECT_OK(sim_fd_close(fixture->fds, 700));
    REFUSES(sim_fd_pair(fixture->fds, "pair", 0, 0, fixture->pair), RT_E_FULL);
    EXPECT_OK(sim_fd_dup(fixture->fds, 3, &fd));
    EXPECT_EQ(fd, 700);
}
SCENARIO(too_many_scenario, too_many);

TEST(fd_numbers_are_limited)
{
    host_lab_pass(&too_many_scenario, 0);
}

/* ---- Batches. -------------------------------------------------------------------------------- */

/* Goal: the trap of D09 exists.
 * Method: two events are fetched; the first handler closes the second's number and opens another,
 * which gets the same number; the batch is not changed. */
static void
stale_batch(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int a = -1;
    int b = -1;
    int c = -1;
    EXPECT_OK(sim_fd_event_open(fds, "a", &a));
    EXPECT_OK(sim_fd_event_open(fds, "b", &b));
    EXPECT_OK(sim_fd_add(fds, a, SIM_FD_IN, 100));
    EXPECT_OK(sim_fd_add(fds, b, SIM_FD_IN, 200));
    EXPECT_OK(sim_fd_notify(fds, a));
    EXPECT_OK(sim_fd_notify(fds, b));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 2);
    EXPECT_EQ(fixture->events[0].data, 100);
    EXPECT_OK(sim_fd_close(fds, b));
    EXPECT_OK(sim_fd_event_open(fds, "c", &c));
    EXPECT_EQ(c, b);
    EXPECT_EQ(fixture->events[1].data, 200);
    EXPECT_EQ(fixture->events[1].events, SIM_FD_IN);
    EXPECT_OK(sim_fd_add(fds, c, SIM_FD_IN, 300));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 1);
    EXPECT_EQ(fixture->events[0].data, 100);
}
SCENARIO(stale_batch_scenario, stale_batch);

TEST(fd_event_in_a_fetched_batch_outlives_its_number)
{
    host_lab_pass(&stale_batch_scenario, 0);
}

static void
small_batches(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    uint32_t unreported[5] = {0};
    for (uint32_t i = 0; i < 5; i++) {
        int fd = -1;
        EXPECT_OK(sim_fd_event_open(fixture->fds, "event", &fd));
        EXPECT_OK(sim_fd_add(fixture->fds, fd, SIM_FD_IN, i));
        EXPECT_OK(sim_fd_notify(fixture->fds, fd));
    }
    for (uint32_t turn = 0; turn < 60; turn++) {
        uint32_t count = sim_fd_wait(fixture->fds, fixture->events, 2, SIM_NEVER);
        EXPECT(count >= 1);
        EXPECT(count <= 2);
        seen.partial += count < 2;
        for (uint32_t i = 0; i < 5; i++) {
            unreported[i]++;
        }
        for (uint32_t i = 0; i < count; i++) {
            unreported[fixture->events[i].data] = 0;
        }
        for (uint32_t i = 0; i < 5; i++) {
            EXPECT(unreported[i] <= 16);
        }
    }
}
SCENARIO(small_batches_scenario, small_batches);

TEST(fd_wait_for_few_events_starves_none)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&small_batches_scenario, 0);
    EXPECT_EQ(seen.partial, 0);
    host_lab_pass(&small_batches_scenario, 40);
    EXPECT(seen.partial > 0);
}

/* ---- Level, edge, oneshot. ------------------------------------------------------------------- */

static void
level(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN, 7));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0);
    fd_fixture_write(fixture, 3, "ab");
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
        EXPECT_EQ(fixture->events[0].events, SIM_FD_IN);
        EXPECT_EQ(fixture->events[0].data, 7);
    }
    size_t got = 0;
    while (got < 2) {
        EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
        got += fd_fixture_drain(fixture, 4);
    }
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0);
}
SCENARIO(level_scenario, level);

TEST(fd_level_is_reported_as_long_as_it_holds)
{
    host_lab_pass(&level_scenario, 30);
}

static void
edge(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 7));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0);
    fd_fixture_write(fixture, 3, "a");
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(fd_fixture_fetch(fixture, MS), 0); /* It was reported; nothing has changed. */
    fd_fixture_write(fixture, 3, "b");
    sim_sleep(world, 20 * MS);
    /* More of the same: another edge, unless it is one with the first. */
    seen.coalesced += fd_fixture_fetch(fixture, 0) == 0;
    EXPECT_EQ(fd_fixture_drain(fixture, 4), 2);
    fd_fixture_write(fixture, 3, "c");
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1); /* From no bytes to some: always an edge. */
    EXPECT_OK(sim_fd_modify(fixture->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 8));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 1); /* A change of interest re-arms. */
    EXPECT_EQ(fixture->events[0].data, 8);
}
SCENARIO(edge_scenario, edge);

TEST(fd_edge_is_reported_once_a_change_and_may_be_coalesced)
{
    struct sim_scenario scenario = edge_scenario;
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 0);
    EXPECT_EQ(seen.coalesced, 0);
    host_lab_pass(&scenario, 60);
    EXPECT(seen.coalesced > 0);
    EXPECT(seen.coalesced < 60);
    memset(&seen, 0, sizeof seen);
    scenario.profile = SIM_PROFILE_WASI;
    host_lab_pass(&scenario, 60);
    EXPECT_EQ(seen.coalesced, 0);
}

static void
oneshot(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    fd_fixture_write(fixture, 3, "ab");
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(fd_fixture_fetch(fixture, 3 * MS), 0);
    fd_fixture_write(fixture, 3, "cd");
    EXPECT_EQ(fd_fixture_fetch(fixture, 3 * MS), 0);
    EXPECT_OK(sim_fd_modify(fixture->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 1);
}
SCENARIO(oneshot_scenario, oneshot);

TEST(fd_oneshot_is_silent_until_it_is_modified)
{
    host_lab_pass(&oneshot_scenario, 30);
}

/* One descriptor without bytes, then with a byte, polled for a while. */
static void
for_nothing(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    char byte = 0;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    for (uint32_t reports = 0; fd_fixture_fetch(fixture, MS) > 0; reports++) {
        EXPECT(reports < 2); /* Bounded, although no byte arrives. */
        EXPECT_EQ(fixture->events[0].events, SIM_FD_IN);
        EXPECT_EQ(sim_fd_read(fixture->fds, 4, &byte, 1), RT_E_AGAIN);
        seen.for_nothing++;
        EXPECT_EQ(fd_fixture_fetch(fixture, MS), 0); /* Spent, also by a spurious report. */
        EXPECT_OK(sim_fd_modify(fixture->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    }
    fd_fixture_write(fixture, 3, "a");
    sim_sleep(world, 30 * MS);
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(sim_fd_read(fixture->fds, 4, &byte, 1), 1);
}
SCENARIO(for_nothing_scenario, for_nothing);

TEST(fd_is_reported_spuriously_under_hostile_only)
{
    struct sim_scenario scenario = for_nothing_scenario;
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 100);
    EXPECT_EQ(seen.for_nothing, 0);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 100);
    EXPECT(seen.for_nothing > 0);
}

/* ---- Interest. ------------------------------------------------------------------------------- */

static void
interest(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    fd_fixture_pair(fixture);
    REFUSES(sim_fd_add(fds, 9, SIM_FD_IN, 1), RT_E_STALE);
    REFUSES(sim_fd_modify(fds, 3, SIM_FD_IN, 1), RT_E_INVALID);
    REFUSES(sim_fd_remove(fds, 3), RT_E_INVALID);
    EXPECT_OK(sim_fd_add(fds, 3, SIM_FD_OUT, 1));
    REFUSES(sim_fd_add(fds, 3, SIM_FD_OUT, 1), RT_E_BUSY);
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 1);
    EXPECT_EQ(fixture->events[0].events, SIM_FD_OUT);
    EXPECT_OK(sim_fd_remove(fds, 3));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0);
}
SCENARIO(interest_scenario, interest);

TEST(fd_interest_is_added_once_and_removed)
{
    host_lab_pass(&interest_scenario, 5);
}

/* Goal: the trap of D12 exists.
 * Method: a registered number has a duplicate; the number is closed without removing interest. */
static void
junk(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int duplicate = -1;
    int next = -1;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fds, 4, SIM_FD_IN, 7));
    EXPECT_OK(sim_fd_dup(fds, 4, &duplicate));
    fd_fixture_write(fixture, 3, "a");
    EXPECT_OK(sim_fd_close(fds, 4));
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
        EXPECT_EQ(fixture->events[0].data, 7);
    }
    REFUSES(sim_fd_remove(fds, 4), RT_E_STALE);
    REFUSES(sim_fd_remove(fds, duplicate), RT_E_INVALID);
    EXPECT_OK(sim_fd_event_open(fds, "next", &next));
    EXPECT_EQ(next, 4);
    EXPECT_OK(sim_fd_add(fds, next, SIM_FD_IN, 8)); /* Another description with the same number. */
    EXPECT_OK(sim_fd_close(fds, duplicate));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0); /* The registration ended with the last number. */
}
SCENARIO(junk_scenario, junk);

TEST(fd_registration_of_a_closed_duplicate_continues_to_report)
{
    host_lab_pass(&junk_scenario, 20);
}
