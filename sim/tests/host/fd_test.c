/*
 * fd_test.c -- fetched batches of descriptors, with the traps that epoll has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/fd_story.h"

/* What a sweep has seen. */
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
    struct fd_story *story = argument;
    struct sim_fds *fds = story->fds;
    int fd = -1;
    fd_story_pair(story);
    EXPECT_EQ(story->pair[0], 3);
    EXPECT_EQ(story->pair[1], 4);
    GOES_WELL(sim_fd_event_open(fds, "event", &fd));
    EXPECT_EQ(fd, 5);
    GOES_WELL(sim_fd_close(fds, 4));
    REFUSES(sim_fd_close(fds, 4), RT_E_STALE);
    EXPECT_EQ(sim_fd_read(fds, 4, &fd, 1), RT_E_STALE);
    GOES_WELL(sim_fd_close(fds, 3));
    GOES_WELL(sim_fd_dup(fds, 5, &fd));
    EXPECT_EQ(fd, 3);
    GOES_WELL(sim_fd_event_open(fds, "event", &fd));
    EXPECT_EQ(fd, 4);
    REFUSES(sim_fd_close(fds, 2), RT_E_STALE);
    REFUSES(sim_fd_close(fds, 1000), RT_E_STALE);
}
STORY(numbers_story, numbers);

TEST(fd_number_is_the_lowest_that_is_free)
{
    host_lab_pass(&numbers_story, 5);
}

static void
too_many(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_story *story = argument;
    int fd = -1;
    for (uint32_t i = 0; i < 1024; i++) {
        GOES_WELL(sim_fd_event_open(story->fds, "event", &fd));
    }
    REFUSES(sim_fd_event_open(story->fds, "event", &fd), RT_E_FULL);
    EXPECT_EQ(fd, 3 + 1023);
    GOES_WELL(sim_fd_close(story->fds, 700));
    REFUSES(sim_fd_pair(story->fds, "pair", 0, 0, story->pair), RT_E_FULL);
    GOES_WELL(sim_fd_dup(story->fds, 3, &fd));
    EXPECT_EQ(fd, 700);
}
STORY(too_many_story, too_many);

TEST(fd_numbers_come_to_an_end)
{
    host_lab_pass(&too_many_story, 0);
}

/* ---- Batches. -------------------------------------------------------------------------------- */

/* Goal: the trap of D09 is there.
 * Method: two events are fetched; the first handler closes the second's number and opens another,
 * which gets the same number; the batch still says what it said. */
static void
stale_batch(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_story *story = argument;
    struct sim_fds *fds = story->fds;
    int a = -1;
    int b = -1;
    int c = -1;
    GOES_WELL(sim_fd_event_open(fds, "a", &a));
    GOES_WELL(sim_fd_event_open(fds, "b", &b));
    GOES_WELL(sim_fd_add(fds, a, SIM_FD_IN, 100));
    GOES_WELL(sim_fd_add(fds, b, SIM_FD_IN, 200));
    GOES_WELL(sim_fd_notify(fds, a));
    GOES_WELL(sim_fd_notify(fds, b));
    EXPECT_EQ(fd_story_fetch(story, 0), 2);
    EXPECT_EQ(story->events[0].data, 100);
    GOES_WELL(sim_fd_close(fds, b));
    GOES_WELL(sim_fd_event_open(fds, "c", &c));
    EXPECT_EQ(c, b);
    EXPECT_EQ(story->events[1].data, 200);
    EXPECT_EQ(story->events[1].events, SIM_FD_IN);
    GOES_WELL(sim_fd_add(fds, c, SIM_FD_IN, 300));
    EXPECT_EQ(fd_story_fetch(story, 0), 1);
    EXPECT_EQ(story->events[0].data, 100);
}
STORY(stale_batch_story, stale_batch);

TEST(fd_event_in_a_fetched_batch_outlives_its_number)
{
    host_lab_pass(&stale_batch_story, 0);
}

static void
small_batches(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_story *story = argument;
    uint32_t unreported[5] = {0};
    for (uint32_t i = 0; i < 5; i++) {
        int fd = -1;
        GOES_WELL(sim_fd_event_open(story->fds, "event", &fd));
        GOES_WELL(sim_fd_add(story->fds, fd, SIM_FD_IN, i));
        GOES_WELL(sim_fd_notify(story->fds, fd));
    }
    for (uint32_t turn = 0; turn < 60; turn++) {
        uint32_t count = sim_fd_wait(story->fds, story->events, 2, SIM_NEVER);
        EXPECT(count >= 1);
        EXPECT(count <= 2);
        seen.partial += count < 2;
        for (uint32_t i = 0; i < 5; i++) {
            unreported[i]++;
        }
        for (uint32_t i = 0; i < count; i++) {
            unreported[story->events[i].data] = 0;
        }
        for (uint32_t i = 0; i < 5; i++) {
            EXPECT(unreported[i] <= 16);
        }
    }
}
STORY(small_batches_story, small_batches);

TEST(fd_wait_with_room_for_few_starves_nobody)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&small_batches_story, 0);
    EXPECT_EQ(seen.partial, 0);
    host_lab_pass(&small_batches_story, 40);
    EXPECT(seen.partial > 0);
}

/* ---- Level, edge, oneshot. ------------------------------------------------------------------- */

static void
level(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_story *story = argument;
    fd_story_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN, 7));
    EXPECT_EQ(fd_story_fetch(story, 0), 0);
    fd_story_write(story, 3, "ab");
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
        EXPECT_EQ(story->events[0].events, SIM_FD_IN);
        EXPECT_EQ(story->events[0].data, 7);
    }
    size_t got = 0;
    while (got < 2) {
        EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
        got += fd_story_drain(story, 4);
    }
    EXPECT_EQ(fd_story_fetch(story, 0), 0);
}
STORY(level_story, level);

TEST(fd_level_is_reported_as_long_as_it_holds)
{
    host_lab_pass(&level_story, 30);
}

static void
edge(struct sim_world *world, void *argument)
{
    struct fd_story *story = argument;
    fd_story_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 7));
    EXPECT_EQ(fd_story_fetch(story, 0), 0);
    fd_story_write(story, 3, "a");
    EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(fd_story_fetch(story, MS), 0); /* It was told; nothing is new. */
    fd_story_write(story, 3, "b");
    sim_sleep(world, 20 * MS);
    /* More of the same: another edge, unless it is one with the first. */
    seen.coalesced += fd_story_fetch(story, 0) == 0;
    EXPECT_EQ(fd_story_drain(story, 4), 2);
    fd_story_write(story, 3, "c");
    EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1); /* From nothing to something: always an edge. */
    GOES_WELL(sim_fd_modify(story->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 8));
    EXPECT_EQ(fd_story_fetch(story, 0), 1); /* A change of interest asks again. */
    EXPECT_EQ(story->events[0].data, 8);
}
STORY(edge_story, edge);

TEST(fd_edge_is_reported_once_a_change_and_may_be_coalesced)
{
    struct sim_scenario scenario = edge_story;
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
    struct fd_story *story = argument;
    fd_story_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    fd_story_write(story, 3, "ab");
    EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(fd_story_fetch(story, 3 * MS), 0);
    fd_story_write(story, 3, "cd");
    EXPECT_EQ(fd_story_fetch(story, 3 * MS), 0);
    GOES_WELL(sim_fd_modify(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    EXPECT_EQ(fd_story_fetch(story, 0), 1);
}
STORY(oneshot_story, oneshot);

TEST(fd_oneshot_is_silent_until_it_is_modified)
{
    host_lab_pass(&oneshot_story, 30);
}

/* One descriptor with nothing in it, then with a byte, asked for a while. */
static void
for_nothing(struct sim_world *world, void *argument)
{
    struct fd_story *story = argument;
    char byte = 0;
    fd_story_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    for (uint32_t told = 0; fd_story_fetch(story, MS) > 0; told++) {
        EXPECT(told < 2); /* It ends, though nothing ever comes. */
        EXPECT_EQ(story->events[0].events, SIM_FD_IN);
        EXPECT_EQ(sim_fd_read(story->fds, 4, &byte, 1), RT_E_AGAIN);
        seen.for_nothing++;
        EXPECT_EQ(fd_story_fetch(story, MS), 0); /* Spent, also for nothing. */
        GOES_WELL(sim_fd_modify(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    }
    fd_story_write(story, 3, "a");
    sim_sleep(world, 30 * MS);
    EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(sim_fd_read(story->fds, 4, &byte, 1), 1);
}
STORY(for_nothing_story, for_nothing);

TEST(fd_is_reported_for_nothing_under_hostile_only)
{
    struct sim_scenario scenario = for_nothing_story;
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
    struct fd_story *story = argument;
    struct sim_fds *fds = story->fds;
    fd_story_pair(story);
    REFUSES(sim_fd_add(fds, 9, SIM_FD_IN, 1), RT_E_STALE);
    REFUSES(sim_fd_modify(fds, 3, SIM_FD_IN, 1), RT_E_INVALID);
    REFUSES(sim_fd_remove(fds, 3), RT_E_INVALID);
    GOES_WELL(sim_fd_add(fds, 3, SIM_FD_OUT, 1));
    REFUSES(sim_fd_add(fds, 3, SIM_FD_OUT, 1), RT_E_BUSY);
    EXPECT_EQ(fd_story_fetch(story, 0), 1);
    EXPECT_EQ(story->events[0].events, SIM_FD_OUT);
    GOES_WELL(sim_fd_remove(fds, 3));
    EXPECT_EQ(fd_story_fetch(story, 0), 0);
}
STORY(interest_story, interest);

TEST(fd_interest_is_added_once_and_removed)
{
    host_lab_pass(&interest_story, 5);
}

/* Goal: the trap of D12 is there.
 * Method: a registered number has a twin; the number is closed without taking interest back. */
static void
junk(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_story *story = argument;
    struct sim_fds *fds = story->fds;
    int twin = -1;
    int next = -1;
    fd_story_pair(story);
    GOES_WELL(sim_fd_add(fds, 4, SIM_FD_IN, 7));
    GOES_WELL(sim_fd_dup(fds, 4, &twin));
    fd_story_write(story, 3, "a");
    GOES_WELL(sim_fd_close(fds, 4));
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fd_story_fetch(story, SIM_NEVER), 1);
        EXPECT_EQ(story->events[0].data, 7);
    }
    REFUSES(sim_fd_remove(fds, 4), RT_E_STALE);
    REFUSES(sim_fd_remove(fds, twin), RT_E_INVALID);
    GOES_WELL(sim_fd_event_open(fds, "next", &next));
    EXPECT_EQ(next, 4);
    GOES_WELL(sim_fd_add(fds, next, SIM_FD_IN, 8)); /* Another thing under the same number. */
    GOES_WELL(sim_fd_close(fds, twin));
    EXPECT_EQ(fd_story_fetch(story, 0), 0); /* The last number took the registration along. */
}
STORY(junk_story, junk);

TEST(fd_registration_of_a_closed_twin_goes_on_reporting)
{
    host_lab_pass(&junk_story, 20);
}
