/*
 * fd_test.c -- descriptors and fetched batches, with the traps that epoll has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

/* What a sweep has seen. */
static struct {
    uint32_t coalesced;
    uint32_t interrupted;
    uint32_t full;
    uint32_t partial;
} seen;

struct story {
    struct sim_host *host;
    struct sim_fds *fds;
    struct sim_fd_event events[8];
    int pair[2];
};

static struct story *
story_new(struct sim_world *world)
{
    struct story *story = sim_new(world, struct story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->fds = sim_fds_new(story->host, 3);
    sim_set_state(world, story);
    return story;
}

/* A scenario of one loop, whose function finds the story in the world's state. */
#define STORY(identifier, loop) \
    static void identifier##_setup(struct sim_world *world) \
    { \
        (void)sim_loop_new(world, "loop", loop, story_new(world)); \
    } \
    static const struct sim_scenario identifier = {.name = "test/" #identifier, \
            .about = "A story about descriptors.", \
            .setup = identifier##_setup, \
            .profile = SIM_PROFILE_FD}

static void
open_pair(struct story *story)
{
    GOES_WELL(sim_fd_pair(story->fds, "pair", 0, 0, story->pair));
}

/* Writes all of `text`, however often it takes. */
static void
write_all(struct story *story, int fd, const char *text)
{
    size_t size = strlen(text);
    size_t done = 0;
    while (done < size) {
        int64_t moved = sim_fd_write(story->fds, fd, text + done, size - done);
        EXPECT(moved > 0);
        done += (size_t)moved;
    }
}

/* Reads until nothing is there, and returns how many bytes there were. */
static size_t
drain(struct story *story, int fd)
{
    char buffer[64];
    size_t size = 0;
    int64_t moved = 0;
    while ((moved = sim_fd_read(story->fds, fd, buffer, sizeof buffer)) > 0) {
        size += (size_t)moved;
    }
    return size;
}

static uint32_t
fetch(struct story *story, uint64_t timeout_ns)
{
    return sim_fd_wait(story->fds, story->events, 8, timeout_ns);
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

static void
numbers(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int fd = -1;
    open_pair(story);
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
    struct story *story = argument;
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
    struct story *story = argument;
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
    EXPECT_EQ(fetch(story, 0), 2);
    EXPECT_EQ(story->events[0].data, 100);
    GOES_WELL(sim_fd_close(fds, b));
    GOES_WELL(sim_fd_event_open(fds, "c", &c));
    EXPECT_EQ(c, b);
    EXPECT_EQ(story->events[1].data, 200);
    EXPECT_EQ(story->events[1].events, SIM_FD_IN);
    GOES_WELL(sim_fd_add(fds, c, SIM_FD_IN, 300));
    EXPECT_EQ(fetch(story, 0), 1);
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
    struct story *story = argument;
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
    struct story *story = argument;
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN, 7));
    EXPECT_EQ(fetch(story, 0), 0);
    write_all(story, 3, "ab");
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fetch(story, SIM_NEVER), 1);
        EXPECT_EQ(story->events[0].events, SIM_FD_IN);
        EXPECT_EQ(story->events[0].data, 7);
    }
    size_t got = 0;
    while (got < 2) {
        EXPECT_EQ(fetch(story, SIM_NEVER), 1);
        got += drain(story, 4);
    }
    EXPECT_EQ(fetch(story, 0), 0);
}
STORY(level_story, level);

TEST(fd_level_is_reported_as_long_as_it_holds)
{
    host_lab_pass(&level_story, 30);
}

static void
edge(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 7));
    EXPECT_EQ(fetch(story, 0), 0);
    write_all(story, 3, "a");
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(fetch(story, MS), 0); /* It was told; nothing is new. */
    write_all(story, 3, "b");
    sim_sleep(world, 20 * MS);
    /* More of the same: another edge, unless it is one with the first. */
    seen.coalesced += fetch(story, 0) == 0;
    EXPECT_EQ(drain(story, 4), 2);
    write_all(story, 3, "c");
    EXPECT_EQ(fetch(story, SIM_NEVER), 1); /* From nothing to something: always an edge. */
    GOES_WELL(sim_fd_modify(story->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 8));
    EXPECT_EQ(fetch(story, 0), 1); /* A change of interest asks anew. */
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
    struct story *story = argument;
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    write_all(story, 3, "ab");
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(fetch(story, 3 * MS), 0);
    write_all(story, 3, "cd");
    EXPECT_EQ(fetch(story, 3 * MS), 0);
    GOES_WELL(sim_fd_modify(story->fds, 4, SIM_FD_IN | SIM_FD_ONESHOT, 7));
    EXPECT_EQ(fetch(story, 0), 1);
}
STORY(oneshot_story, oneshot);

TEST(fd_oneshot_is_silent_until_it_is_modified)
{
    host_lab_pass(&oneshot_story, 30);
}

/* ---- Interest. ------------------------------------------------------------------------------- */

static void
interest(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    open_pair(story);
    REFUSES(sim_fd_add(fds, 9, SIM_FD_IN, 1), RT_E_STALE);
    REFUSES(sim_fd_modify(fds, 3, SIM_FD_IN, 1), RT_E_INVALID);
    REFUSES(sim_fd_remove(fds, 3), RT_E_INVALID);
    GOES_WELL(sim_fd_add(fds, 3, SIM_FD_OUT, 1));
    REFUSES(sim_fd_add(fds, 3, SIM_FD_OUT, 1), RT_E_BUSY);
    EXPECT_EQ(fetch(story, 0), 1);
    EXPECT_EQ(story->events[0].events, SIM_FD_OUT);
    GOES_WELL(sim_fd_remove(fds, 3));
    EXPECT_EQ(fetch(story, 0), 0);
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
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int twin = -1;
    int next = -1;
    open_pair(story);
    GOES_WELL(sim_fd_add(fds, 4, SIM_FD_IN, 7));
    GOES_WELL(sim_fd_dup(fds, 4, &twin));
    write_all(story, 3, "a");
    GOES_WELL(sim_fd_close(fds, 4));
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(fetch(story, SIM_NEVER), 1);
        EXPECT_EQ(story->events[0].data, 7);
    }
    REFUSES(sim_fd_remove(fds, 4), RT_E_STALE);
    REFUSES(sim_fd_remove(fds, twin), RT_E_INVALID);
    GOES_WELL(sim_fd_event_open(fds, "next", &next));
    EXPECT_EQ(next, 4);
    GOES_WELL(sim_fd_add(fds, next, SIM_FD_IN, 8)); /* Another thing under the same number. */
    GOES_WELL(sim_fd_close(fds, twin));
    EXPECT_EQ(fetch(story, 0), 0); /* The last number took the registration along. */
}
STORY(junk_story, junk);

TEST(fd_registration_of_a_closed_twin_goes_on_reporting)
{
    host_lab_pass(&junk_story, 20);
}

/* ---- Pairs. ---------------------------------------------------------------------------------- */

static void
closed_peer(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    char buffer[8];
    GOES_WELL(sim_fd_pair(fds, "pair", 0, 2 * MS, story->pair));
    GOES_WELL(sim_fd_add(fds, 4, SIM_FD_EDGE, 7)); /* Asks for nothing. */
    write_all(story, 3, "bye");
    GOES_WELL(sim_fd_close(fds, 3));
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(story->events[0].events, SIM_FD_HUP);
    EXPECT_EQ(sim_fd_write(fds, 4, "x", 1), RT_E_CLOSED);
    EXPECT_EQ(drain(story, 4), 3); /* All bytes come before the end. */
    EXPECT_EQ(sim_fd_read(fds, 4, buffer, sizeof buffer), 0);
    EXPECT_EQ(sim_fd_read(fds, 4, buffer, sizeof buffer), 0);
    GOES_WELL(sim_fd_close(fds, 4));
    sim_sleep(world, 10 * MS);
}
STORY(closed_peer_story, closed_peer);

TEST(fd_hangup_is_reported_unasked_after_all_bytes)
{
    host_lab_pass(&closed_peer_story, 40);
}

static void
broken_peer(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    open_pair(story);
    GOES_WELL(sim_fd_add(fds, 4, 0, 7));
    write_all(story, 4, "nobody reads this");
    sim_sleep(world, MS);
    GOES_WELL(sim_fd_close(fds, 3));
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(story->events[0].events, SIM_FD_HUP | SIM_FD_ERR);
}
STORY(broken_peer_story, broken_peer);

TEST(fd_error_is_reported_unasked_when_the_peer_left_bytes_unread)
{
    host_lab_pass(&broken_peer_story, 20);
}

static void
back_pressure(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    char block[512];
    char expected = 0;
    int64_t moved = 0;
    size_t written = 0;
    size_t got = 0;
    open_pair(story);
    GOES_WELL(sim_fd_add(fds, 3, SIM_FD_OUT | SIM_FD_EDGE, 1));
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    do {
        written += (size_t)moved;
        for (size_t i = 0; i < sizeof block; i++) {
            block[i] = (char)((written + i) % 101);
        }
        moved = sim_fd_write(fds, 3, block, sizeof block);
    } while (moved > 0);
    EXPECT_EQ(moved, RT_E_AGAIN);
    EXPECT_EQ(written, 4096);
    EXPECT_EQ(fetch(story, MS), 0);
    sim_sleep(world, 30 * MS);
    while ((moved = sim_fd_read(fds, 4, block, sizeof block)) > 0) {
        for (size_t i = 0; i < (size_t)moved; i++) {
            EXPECT_EQ(block[i], expected);
            expected = (char)((expected + 1) % 101);
        }
        got += (size_t)moved;
    }
    EXPECT_EQ(got, 4096);
    EXPECT_EQ(fetch(story, 0), 1); /* Room again: an edge. */
    EXPECT_EQ(story->events[0].events, SIM_FD_OUT);
}
STORY(back_pressure_story, back_pressure);

TEST(fd_pair_keeps_order_and_says_when_there_is_room_again)
{
    host_lab_pass(&back_pressure_story, 10);
}

static void
full_and_closed(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    char block[512] = {0};
    int64_t moved = 0;
    open_pair(story);
    GOES_WELL(sim_fd_add(fds, 3, SIM_FD_OUT | SIM_FD_EDGE, 1));
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    do {
        moved = sim_fd_write(fds, 3, block, sizeof block);
    } while (moved > 0);
    sim_sleep(world, 30 * MS);
    GOES_WELL(sim_fd_close(fds, 4));
    /* That it has closed is on its way: nothing is different here until it comes. */
    EXPECT_EQ(sim_fd_write(fds, 3, block, sizeof block), RT_E_AGAIN);
    EXPECT_EQ(fetch(story, SIM_NEVER), 1);
    EXPECT_EQ(story->events[0].events, SIM_FD_OUT | SIM_FD_HUP | SIM_FD_ERR);
    EXPECT_EQ(sim_fd_write(fds, 3, block, sizeof block), RT_E_CLOSED);
}
STORY(full_and_closed_story, full_and_closed);

TEST(fd_close_of_a_full_pair_is_known_when_it_has_arrived)
{
    host_lab_pass(&full_and_closed_story, 20);
}

/* ---- Eventfds and listeners. ----------------------------------------------------------------- */

static void
counter(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int fd = -1;
    uint64_t value = 0;
    GOES_WELL(sim_fd_event_open(fds, "event", &fd));
    open_pair(story);
    REFUSES(sim_fd_notify(fds, story->pair[0]), RT_E_INVALID);
    REFUSES(sim_fd_notify(fds, 77), RT_E_STALE);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), RT_E_AGAIN);
    GOES_WELL(sim_fd_notify(fds, fd));
    GOES_WELL(sim_fd_notify(fds, fd));
    value = 5;
    EXPECT_EQ(sim_fd_write(fds, fd, &value, sizeof value), 8);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, 4), RT_E_INVALID);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), 8);
    EXPECT_EQ(value, 7);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), RT_E_AGAIN);
}
STORY(counter_story, counter);

TEST(fd_eventfd_adds_up_and_is_read_at_once)
{
    host_lab_pass(&counter_story, 5);
}

static void
accept_all(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int listener = -1;
    int fd = -1;
    int peer = -1;
    uint32_t accepted = 0;
    GOES_WELL(sim_fd_listen(fds, "door", 3, MS, 4 * MS, &listener));
    GOES_WELL(sim_fd_add(fds, listener, SIM_FD_IN, 0));
    REFUSES(sim_fd_accept(fds, listener, &fd, &peer), RT_E_AGAIN);
    while (accepted < 3) {
        uint32_t count = fetch(story, SIM_NEVER);
        seen.interrupted += count == 0;
        rt_err err = count == 0 ? RT_E_AGAIN : sim_fd_accept(fds, listener, &fd, &peer);
        if (err == RT_E_FULL) {
            seen.full++; /* The connection is still there. */
            continue;
        }
        accepted += err == RT_OK;
    }
    EXPECT(sim_now(world) >= 3 * MS);
    write_all(story, peer, "hello");
    sim_sleep(world, 20 * MS);
    EXPECT_EQ(drain(story, fd), 5);
    EXPECT_EQ(fetch(story, 20 * MS), 0);
    EXPECT(peer != fd);
}
STORY(accept_story, accept_all);

TEST(fd_listener_gives_one_connection_for_each_that_arrived)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&accept_story, 30);
    EXPECT_EQ(seen.interrupted, 0);
    EXPECT_EQ(seen.full, 0);
}

static void
silent_peer(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int listener = -1;
    int fd = -1;
    GOES_WELL(sim_fd_listen(fds, "door", 1, MS, MS, &listener));
    sim_sleep(world, 20 * MS);
    GOES_WELL(sim_fd_accept(fds, listener, &fd, NULL));
    EXPECT_EQ(fd, 4);
    EXPECT_EQ(sim_fd_read(fds, fd, &listener, 1), RT_E_AGAIN);
    GOES_WELL(sim_fd_close(fds, fd));
}
STORY(silent_story, silent_peer);

TEST(fd_peer_that_nobody_plays_is_silent)
{
    host_lab_pass(&silent_story, 10);
}

/* ---- Faults. --------------------------------------------------------------------------------- */

TEST(fd_faults_come_only_where_they_are_survived)
{
    struct sim_scenario scenario = accept_story;
    scenario.survives = SIM_FAULT_EINTR;
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 60);
    EXPECT(seen.interrupted > 0);
    EXPECT_EQ(seen.full, 0);
}

/* Opens and registers until it has what it wants, whatever is refused. */
static void
stubborn(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    struct sim_fds *fds = story->fds;
    int fd = -1;
    for (uint32_t done = 0; done < 20;) {
        if (sim_fd_event_open(fds, "event", &fd) != RT_OK) {
            seen.full++;
            continue;
        }
        while (sim_fd_add(fds, fd, SIM_FD_IN, 0) == RT_E_FULL) {
            seen.full++;
        }
        done++;
    }
}
STORY(stubborn_story, stubborn);

TEST(fd_capacity_runs_out_early_only_where_it_is_survived)
{
    struct sim_scenario scenario = stubborn_story;
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 10);
    EXPECT_EQ(seen.full, 0);
    scenario.survives = SIM_FAULT_CAPACITY;
    host_lab_pass(&scenario, 10);
    EXPECT(seen.full > 0);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static void
time_out(struct sim_world *world, void *argument)
{
    struct story *story = argument;
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN, 7));
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t before_ns = sim_now(world);
        EXPECT_EQ(fetch(story, 3 * MS), 0);
        EXPECT(sim_now(world) >= before_ns + 3 * MS);
    }
}
STORY(time_out_story, time_out);

TEST(fd_wait_returns_with_nothing_when_its_time_is_over)
{
    host_lab_pass(&time_out_story, 20);
}

static void
block_in_setup(struct sim_world *world)
{
    struct story *story = story_new(world);
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN, 7));
    EXPECT_EQ(fetch(story, 0), 0);
    (void)fetch(story, MS);
}

TEST(fd_wait_outside_a_loop_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/no-loop", .about = "Blocks nowhere.", .setup = block_in_setup};
    host_lab_expect(&scenario, 2, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Rung 2. --------------------------------------------------------------------------------- */

/* Reads one byte of two and waits for an edge that never comes: a byte is there, nobody is told. */
static void
lose_an_edge(struct sim_world *world, void *argument)
{
    (void)world;
    struct story *story = argument;
    size_t got = 0;
    char byte = 0;
    open_pair(story);
    GOES_WELL(sim_fd_add(story->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 7));
    write_all(story, 3, "ab");
    sim_sleep(world, MS);
    while (got < 2) {
        (void)fetch(story, SIM_NEVER);
        got += sim_fd_read(story->fds, 4, &byte, 1) == 1;
    }
}
STORY(lost_edge_story, lose_an_edge);

TEST(lost_edge_is_found_when_sources_are_reported_again)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_judge(&lab, &lost_edge_story, 1, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "lost-wakeup");
    EXPECT_STR(sim_oracle_name(outcome.oracle), "rewake-sources");
    lab_fini(&lab);
}

/* A loop that has an item to work on, and sleeps: whoever put it there forgot to notify. */
struct queue_story {
    struct sim_host *host;
    uint32_t items;
    bool notifies;
};

static void
consumer(struct sim_world *world, void *argument)
{
    struct queue_story *story = argument;
    struct rt_host *seam = sim_host_seam(story->host);
    struct rt_pollable notify;
    struct rt_pollable *list[1] = {&notify};
    (void)world;
    GOES_WELL(rt_host_subscribe(seam, RT_SUBSCRIBE_NOTIFY, 0, &notify));
    while (story->items == 0) {
        uint32_t index = 0;
        uint32_t ready = 0;
        GOES_WELL(seam->ops->poll(seam, list, 1, &index, &ready));
    }
    SIM_PROGRESS();
}

static void
producer(struct sim_world *world, void *argument)
{
    struct queue_story *story = argument;
    sim_sleep(world, MS);
    story->items++;
    if (story->notifies) {
        rt_host_notify(sim_host_seam(story->host));
    }
}

static void
queue_setup(struct sim_world *world, bool notifies)
{
    struct queue_story *story = sim_new(world, struct queue_story);
    story->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->notifies = notifies;
    (void)sim_loop_new(world, "consumer", consumer, story);
    (void)sim_loop_new(world, "producer", producer, story);
}

static void
forgetful_setup(struct sim_world *world)
{
    queue_setup(world, false);
}

static void
mindful_setup(struct sim_world *world)
{
    queue_setup(world, true);
}

TEST(forgotten_notify_is_found_when_it_is_made_up_for)
{
    struct sim_scenario scenario = {
            .name = "test/forgets", .about = "Forgets to notify.", .setup = forgetful_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_judge(&lab, &scenario, 1, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "lost-wakeup");
    EXPECT_STR(sim_oracle_name(outcome.oracle), "rewake-sources");
    scenario.setup = mindful_setup;
    EXPECT_STR(sim_verdict_name(lab_judge(&lab, &scenario, 1, true).verdict), "pass");
    lab_fini(&lab);
}
