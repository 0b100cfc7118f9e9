/*
 * two_loops_test.c -- several loops block in one host: each is woken (miri#4692).
 *
 * The fake poller of that report woke one of two waiters although there were two events, and so
 * caused false alarms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/host_lab.h"

struct fixture {
    struct sim_host *host;
    struct sim_source *source;
    struct sim_net *net;
    struct sim_node *node;
    int listener;
    uint32_t taken;
};

/* Blocks until the source has an event, and takes one, unless the other loop was first. */
static void
take_one(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_pollable pollable = {0};
    struct rt_pollable *list[1] = {&pollable};
    uint32_t index = 0;
    uint32_t ready = 0;
    (void)world;
    EXPECT_OK(sim_source_subscribe(fixture->source, &pollable));
    do {
        EXPECT_OK(rt_host_poll(sim_host_seam(fixture->host), list, 1, &index, &ready));
    } while (sim_source_take(fixture->source) == RT_E_AGAIN);
    rt_pollable_drop(&pollable);
    fixture->taken++;
}

static struct fixture *
fixture_new(struct sim_world *world)
{
    struct fixture *fixture = sim_new(world, struct fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->source = sim_source_new(fixture->host, "two events");
    sim_set_state(world, fixture);
    return fixture;
}

static void
two_events_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    sim_source_event_in(fixture->source, MS, 3 * MS);
    sim_source_event_in(fixture->source, MS, 3 * MS);
    (void)sim_loop_new(world, "first", take_one, fixture);
    (void)sim_loop_new(world, "second", take_one, fixture);
}

static void
both_taken(struct sim_world *world, void *state)
{
    const struct fixture *fixture = state;
    (void)world;
    EXPECT_EQ(fixture->taken, 2);
}

static const struct sim_scenario two_events = {.name = "test/two_events",
        .about = "Two loops and two events of one source.",
        .setup = two_events_setup,
        .check = both_taken};

/* Goal: two events end two polls. Method: two loops that block for one source, in any order. */
TEST(two_loops_are_both_woken_by_two_events)
{
    struct sim_scenario scenario = two_events;
    host_lab_pass(&scenario, 500);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 500);
    scenario.profile = SIM_PROFILE_FD;
    host_lab_pass(&scenario, 500);
}

/* ---- The same with events of descriptors: two loops wait for one network. -------------------- */

static void
accept_one(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_net *net = sim_node_seam(fixture->node);
    struct rt_pollable pollable = {0};
    struct rt_pollable *list[1] = {&pollable};
    struct rt_net_event events[4];
    struct rt_net_address peer;
    uint32_t index = 0;
    uint32_t ready = 0;
    int socket = -1;
    (void)world;
    EXPECT_OK(net->ops->subscribe(net, &pollable));
    while (net->ops->accept(net, fixture->listener, &socket, &peer) == RT_E_AGAIN) {
        EXPECT_OK(rt_host_poll(sim_host_seam(fixture->host), list, 1, &index, &ready));
        (void)rt_net_fetch(net, events, 4);
    }
    rt_pollable_drop(&pollable);
    net->ops->close(net, socket);
    fixture->taken++;
}

/* Connects until both have been answered: an edge that one loop has fetched is not reported to the
 * other, which is woken by the next connection. */
static void
call(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_net *net = sim_node_seam(
            sim_node_new(fixture->net, sim_host_new(world, "far", SIM_PROFILE_DEFAULT), "far"));
    struct rt_net_address address = sim_node_address(fixture->node, 80);
    while (fixture->taken < 2) {
        int socket = -1;
        EXPECT_OK(net->ops->connect_start(net, &address, &socket));
        sim_sleep(world, 20 * MS);
        net->ops->close(net, socket);
    }
}

static void
two_accepts_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    uint32_t object = 0;
    fixture->net = sim_net_new(world, NULL);
    fixture->node = sim_node_new(fixture->net, fixture->host, "near");
    struct rt_net *net = sim_node_seam(fixture->node);
    struct rt_net_address address = sim_node_address(fixture->node, 80);
    EXPECT_OK(net->ops->listen_start(net, &address, 4, &fixture->listener));
    EXPECT_OK(net->ops->watch(net, fixture->listener, 1, &object));
    (void)sim_loop_new(world, "first", accept_one, fixture);
    (void)sim_loop_new(world, "second", accept_one, fixture);
    (void)sim_loop_new(world, "caller", call, fixture);
}

static const struct sim_scenario two_accepts = {.name = "test/two_accepts",
        .about = "Two loops wait for one listener.",
        .setup = two_accepts_setup,
        .check = both_taken,
        .profile = SIM_PROFILE_FD};

TEST(two_loops_wait_for_one_network)
{
    host_lab_pass(&two_accepts, 300);
}
