/*
 * fd_kinds_test.c -- pairs, eventfds and listeners; faults, and waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/fd_fixture.h"

/* Counts over a sweep. */
static struct {
    uint32_t interrupted;
    uint32_t full;
} seen;

/* ---- Pairs. ---------------------------------------------------------------------------------- */

static void
closed_peer(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    char buffer[8];
    EXPECT_OK(sim_fd_pair(fds, "pair", 0, 2 * MS, fixture->pair));
    EXPECT_OK(sim_fd_add(fds, 4, SIM_FD_EDGE, 7)); /* Asks for nothing. */
    fd_fixture_write(fixture, 3, "bye");
    EXPECT_OK(sim_fd_close(fds, 3));
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(fixture->events[0].events, SIM_FD_HUP);
    EXPECT_EQ(sim_fd_write(fds, 4, "x", 1), RT_E_CLOSED);
    EXPECT_EQ(fd_fixture_drain(fixture, 4), 3); /* All bytes arrive before the end. */
    EXPECT_EQ(sim_fd_read(fds, 4, buffer, sizeof buffer), 0);
    EXPECT_EQ(sim_fd_read(fds, 4, buffer, sizeof buffer), 0);
    EXPECT_OK(sim_fd_close(fds, 4));
    sim_sleep(world, 10 * MS);
}
SCENARIO(closed_peer_scenario, closed_peer);

TEST(fd_hangup_is_reported_unasked_after_all_bytes)
{
    host_lab_pass(&closed_peer_scenario, 40);
}

static void
broken_peer(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fds, 4, 0, 7));
    fd_fixture_write(fixture, 4, "never read");
    sim_sleep(world, MS);
    EXPECT_OK(sim_fd_close(fds, 3));
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(fixture->events[0].events, SIM_FD_HUP | SIM_FD_ERR);
}
SCENARIO(broken_peer_scenario, broken_peer);

TEST(fd_error_is_reported_unasked_when_the_peer_left_bytes_unread)
{
    host_lab_pass(&broken_peer_scenario, 20);
}

static void
back_pressure(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    char block[512];
    char expected = 0;
    int64_t moved = 0;
    size_t written = 0;
    size_t got = 0;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fds, 3, SIM_FD_OUT | SIM_FD_EDGE, 1));
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    do {
        written += (size_t)moved;
        for (size_t i = 0; i < sizeof block; i++) {
            block[i] = (char)((written + i) % 101);
        }
        moved = sim_fd_write(fds, 3, block, sizeof block);
    } while (moved > 0);
    EXPECT_EQ(moved, RT_E_AGAIN);
    EXPECT_EQ(written, 4096);
    EXPECT_EQ(fd_fixture_fetch(fixture, MS), 0);
    sim_sleep(world, 30 * MS);
    while ((moved = sim_fd_read(fds, 4, block, sizeof block)) > 0) {
        for (size_t i = 0; i < (size_t)moved; i++) {
            EXPECT_EQ(block[i], expected);
            expected = (char)((expected + 1) % 101);
        }
        got += (size_t)moved;
    }
    EXPECT_EQ(got, 4096);
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 1); /* Space again: an edge. */
    EXPECT_EQ(fixture->events[0].events, SIM_FD_OUT);
}
SCENARIO(back_pressure_scenario, back_pressure);

TEST(fd_pair_keeps_order_and_says_when_there_is_room_again)
{
    host_lab_pass(&back_pressure_scenario, 10);
}

static void
full_and_closed(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    char block[512] = {0};
    int64_t moved = 0;
    sim_host_undivided(fixture->host); /* Two calls in a row are compared. */
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fds, 3, SIM_FD_OUT | SIM_FD_EDGE, 1));
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    do {
        moved = sim_fd_write(fds, 3, block, sizeof block);
    } while (moved > 0);
    sim_sleep(world, 30 * MS);
    EXPECT_OK(sim_fd_close(fds, 4));
    /* The close is in flight: nothing changes here before it arrives. */
    EXPECT_EQ(sim_fd_write(fds, 3, block, sizeof block), RT_E_AGAIN);
    EXPECT_EQ(fd_fixture_fetch(fixture, SIM_NEVER), 1);
    EXPECT_EQ(fixture->events[0].events, SIM_FD_OUT | SIM_FD_HUP | SIM_FD_ERR);
    EXPECT_EQ(sim_fd_write(fds, 3, block, sizeof block), RT_E_CLOSED);
}
SCENARIO(full_and_closed_scenario, full_and_closed);

TEST(fd_close_of_a_full_pair_has_no_effect_before_it_arrives)
{
    host_lab_pass(&full_and_closed_scenario, 20);
}

/* ---- Eventfds and listeners. ----------------------------------------------------------------- */

static void
counter(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int fd = -1;
    uint64_t value = 0;
    EXPECT_OK(sim_fd_event_open(fds, "event", &fd));
    fd_fixture_pair(fixture);
    REFUSES(sim_fd_notify(fds, fixture->pair[0]), RT_E_INVALID);
    REFUSES(sim_fd_notify(fds, 77), RT_E_STALE);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), RT_E_AGAIN);
    EXPECT_OK(sim_fd_notify(fds, fd));
    EXPECT_OK(sim_fd_notify(fds, fd));
    value = 5;
    EXPECT_EQ(sim_fd_write(fds, fd, &value, sizeof value), 8);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, 4), RT_E_INVALID);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), 8);
    EXPECT_EQ(value, 7);
    EXPECT_EQ(sim_fd_read(fds, fd, &value, sizeof value), RT_E_AGAIN);
}
SCENARIO(counter_scenario, counter);

TEST(fd_eventfd_adds_up_and_is_read_at_once)
{
    host_lab_pass(&counter_scenario, 5);
}

static void
accept_all(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int listener = -1;
    int fd = -1;
    int peer = -1;
    uint32_t accepted = 0;
    EXPECT_OK(sim_fd_listen(fds, "door", 3, MS, 4 * MS, &listener));
    EXPECT_OK(sim_fd_add(fds, listener, SIM_FD_IN, 0));
    REFUSES(sim_fd_accept(fds, listener, &fd, &peer), RT_E_AGAIN);
    while (accepted < 3) {
        uint32_t count = fd_fixture_fetch(fixture, SIM_NEVER);
        seen.interrupted += count == 0;
        rt_err err = count == 0 ? RT_E_AGAIN : sim_fd_accept(fds, listener, &fd, &peer);
        if (err == RT_E_FULL) {
            seen.full++; /* The connection is still waiting. */
            continue;
        }
        accepted += err == RT_OK;
    }
    EXPECT(sim_now(world) >= 3 * MS);
    fd_fixture_write(fixture, peer, "hello");
    sim_sleep(world, 20 * MS);
    EXPECT_EQ(fd_fixture_drain(fixture, fd), 5);
    EXPECT_EQ(fd_fixture_fetch(fixture, 20 * MS), 0);
    EXPECT(peer != fd);
}
SCENARIO(accept_scenario, accept_all);

TEST(fd_listener_gives_one_connection_for_each_that_arrived)
{
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&accept_scenario, 30);
    EXPECT_EQ(seen.interrupted, 0);
    EXPECT_EQ(seen.full, 0);
}

static void
silent_peer(struct sim_world *world, void *argument)
{
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
    int listener = -1;
    int fd = -1;
    EXPECT_OK(sim_fd_listen(fds, "door", 1, MS, MS, &listener));
    sim_sleep(world, 20 * MS);
    EXPECT_OK(sim_fd_accept(fds, listener, &fd, NULL));
    EXPECT_EQ(fd, 4);
    EXPECT_EQ(sim_fd_read(fds, fd, &listener, 1), RT_E_AGAIN);
    EXPECT_OK(sim_fd_close(fds, fd));
}
SCENARIO(silent_scenario, silent_peer);

TEST(fd_peer_without_a_number_is_silent)
{
    host_lab_pass(&silent_scenario, 10);
}

/* ---- Faults. --------------------------------------------------------------------------------- */

TEST(fd_faults_come_only_where_they_are_survived)
{
    struct sim_scenario scenario = accept_scenario;
    scenario.survives = SIM_FAULT_EINTR;
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 60);
    EXPECT(seen.interrupted > 0);
    EXPECT_EQ(seen.full, 0);
}

/* Opens and registers until it succeeds. */
static void
stubborn(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    struct sim_fds *fds = fixture->fds;
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
SCENARIO(stubborn_scenario, stubborn);

TEST(fd_capacity_runs_out_early_only_where_it_is_survived)
{
    struct sim_scenario scenario = stubborn_scenario;
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
    struct fd_fixture *fixture = argument;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN, 7));
    for (uint32_t i = 0; i < 5; i++) {
        uint64_t before_ns = sim_now(world);
        EXPECT_EQ(fd_fixture_fetch(fixture, 3 * MS), 0);
        EXPECT(sim_now(world) >= before_ns + 3 * MS);
    }
}
SCENARIO(time_out_scenario, time_out);

TEST(fd_wait_returns_with_nothing_when_its_time_is_over)
{
    host_lab_pass(&time_out_scenario, 20);
}

static void
block_in_setup(struct sim_world *world)
{
    struct fd_fixture *fixture = fd_fixture_new(world);
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN, 7));
    EXPECT_EQ(fd_fixture_fetch(fixture, 0), 0);
    (void)fd_fixture_fetch(fixture, MS);
}

TEST(fd_wait_outside_a_loop_is_a_broken_contract)
{
    static const struct sim_scenario scenario = {
            .name = "test/no-loop", .about = "Blocks nowhere.", .setup = block_in_setup};
    host_lab_expect(&scenario, 2, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Stage 2. -------------------------------------------------------------------------------- */

/* Reads one byte of two and waits for an edge: there is a byte, and no edge will follow. */
static void
lose_an_edge(struct sim_world *world, void *argument)
{
    (void)world;
    struct fd_fixture *fixture = argument;
    size_t got = 0;
    char byte = 0;
    fd_fixture_pair(fixture);
    EXPECT_OK(sim_fd_add(fixture->fds, 4, SIM_FD_IN | SIM_FD_EDGE, 7));
    fd_fixture_write(fixture, 3, "ab");
    sim_sleep(world, MS);
    while (got < 2) {
        (void)fd_fixture_fetch(fixture, SIM_NEVER);
        got += sim_fd_read(fixture->fds, 4, &byte, 1) == 1;
    }
}
SCENARIO(lost_edge_scenario, lose_an_edge);

TEST(lost_edge_is_found_when_sources_are_reported_again)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    struct sim_outcome outcome = lab_judge(&lab, &lost_edge_scenario, 1, true);
    EXPECT_STR(sim_verdict_name(outcome.verdict), "lost-wakeup");
    EXPECT_STR(sim_oracle_name(outcome.oracle), "rewake-sources");
    lab_fini(&lab);
}

/* A loop that has an item to work on, and blocks: it was not notified of the item. */
struct queue_fixture {
    struct sim_host *host;
    uint32_t items;
    bool notifies;
};

static void
consumer(struct sim_world *world, void *argument)
{
    struct queue_fixture *fixture = argument;
    struct rt_host *seam = sim_host_seam(fixture->host);
    struct rt_pollable notify;
    struct rt_pollable *list[1] = {&notify};
    (void)world;
    EXPECT_OK(rt_host_subscribe(seam, RT_SUBSCRIBE_NOTIFY, 0, &notify));
    while (fixture->items == 0) {
        uint32_t index = 0;
        uint32_t ready = 0;
        EXPECT_OK(seam->ops->poll(seam, list, 1, &index, &ready));
    }
    SIM_PROGRESS();
}

static void
producer(struct sim_world *world, void *argument)
{
    struct queue_fixture *fixture = argument;
    sim_sleep(world, MS);
    fixture->items++;
    if (fixture->notifies) {
        rt_host_notify(sim_host_seam(fixture->host));
    }
}

static void
queue_setup(struct sim_world *world, bool notifies)
{
    struct queue_fixture *fixture = sim_new(world, struct queue_fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->notifies = notifies;
    (void)sim_loop_new(world, "consumer", consumer, fixture);
    (void)sim_loop_new(world, "producer", producer, fixture);
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

TEST(forgotten_notify_is_found_when_the_host_notifies)
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
