/*
 * net_test.c -- the simulated network, driven through its seam by a loop that waits by sleeping.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

struct story {
    struct sim_node *server;
    struct sim_node *client;
    struct rt_net *near; /* The server's seam … */
    struct rt_net *far;  /* … and the client's. */
    struct sim_host *far_host;
    int listener;
    int stream; /* The client's end … */
    int accepted;
};

static struct story *
story_of(struct sim_world *world)
{
    return world->state;
}

static void
story_new(struct sim_world *world)
{
    struct sim_net_options options = {.room = 8, .retry_ns = MS, .tries = 3};
    struct sim_net *net = sim_net_new(world, &options);
    struct story *story = sim_new(world, struct story);
    story->server = sim_node_new(net, sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), "server");
    story->far_host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    story->client = sim_node_new(net, story->far_host, "client");
    story->near = sim_node_seam(story->server);
    story->far = sim_node_seam(story->client);
    sim_set_state(world, story);
}

/* A scenario of one loop. */
#define STORY(identifier) \
    static void identifier##_loop(struct sim_world *world, void *argument) \
    { \
        (void)argument; \
        identifier(world, story_of(world)); \
    } \
    static void identifier##_setup(struct sim_world *world) \
    { \
        story_new(world); \
        (void)sim_loop_new(world, "loop", identifier##_loop, NULL); \
    } \
    static const struct sim_scenario identifier##_scenario = {.name = "test/" #identifier, \
            .about = "A story about a network.", \
            .setup = identifier##_setup, \
            .profile = SIM_PROFILE_FD}

/* Long enough for whatever is on its way. */
static void
settle(struct sim_world *world)
{
    sim_sleep(world, 20 * MS);
}

static void
serve(struct sim_world *world, struct story *story, uint32_t backlog)
{
    struct rt_net_address address = sim_node_address(story->server, 80);
    GOES_WELL(story->near->ops->listen_start(story->near, &address, backlog, &story->listener));
    REFUSES(story->near->ops->listen_start(story->near, &address, backlog, &story->accepted),
            RT_E_ADDRESS_IN_USE);
    settle(world);
    GOES_WELL(story->near->ops->listen_finish(story->near, story->listener));
}

static int
call(struct story *story)
{
    struct rt_net_address address = sim_node_address(story->server, 80);
    int socket = -1;
    GOES_WELL(story->far->ops->connect_start(story->far, &address, &socket));
    return socket;
}

static int
take(struct story *story)
{
    struct rt_net_address peer;
    int socket = -1;
    GOES_WELL(story->near->ops->accept(story->near, story->listener, &socket, &peer));
    return socket;
}

/* One connection, both ends open. */
static void
connect_both(struct sim_world *world, struct story *story)
{
    serve(world, story, 4);
    story->stream = call(story);
    REFUSES(story->far->ops->connect_finish(story->far, story->stream), RT_E_AGAIN);
    settle(world);
    GOES_WELL(story->far->ops->connect_finish(story->far, story->stream));
    story->accepted = take(story);
}

static size_t
put(struct rt_net *net, int socket, const char *text)
{
    size_t size = 0;
    GOES_WELL(rt_net_write(net, socket, text, strlen(text), &size, RT_HERE));
    return size;
}

static rt_err
get(struct rt_net *net, int socket, char *ret, size_t *ret_size)
{
    return rt_net_read(net, socket, ret, 16, ret_size, RT_HERE);
}

static void
close_all(struct story *story)
{
    story->far->ops->close(story->far, story->stream);
    story->near->ops->close(story->near, story->accepted);
    story->near->ops->close(story->near, story->listener);
}

/* ---- Connecting. ----------------------------------------------------------------------------- */

static void
refused(struct sim_world *world, struct story *story)
{
    int socket = call(story);
    settle(world);
    REFUSES(story->far->ops->connect_finish(story->far, socket), RT_E_REFUSED);
    REFUSES(story->far->ops->connect_finish(story->far, socket), RT_E_CLOSED);
    story->far->ops->close(story->far, socket);
}
STORY(refused);

/* Nobody listens: the one who asks is told, once. */
TEST(net_connection_that_nobody_listens_for_is_refused)
{
    host_lab_pass(&refused_scenario, 200);
}

/* Two fit into the backlog; the third asks again until one is accepted, the fourth in vain. */
static void
crowded(struct sim_world *world, struct story *story)
{
    int sockets[4];
    serve(world, story, 2);
    for (uint32_t i = 0; i < 3; i++) {
        sockets[i] = call(story);
        EXPECT_EQ(sockets[i], 3 + (int)i);
        settle(world);
    }
    /* Three tries, a millisecond apart: 20 ms are more than enough to have given up. */
    REFUSES(story->far->ops->connect_finish(story->far, sockets[2]), RT_E_TIMED_OUT);
    GOES_WELL(story->far->ops->connect_finish(story->far, sockets[1]));
    int first = take(story);
    EXPECT_EQ(first, 4);
    sockets[3] = call(story);
    settle(world);
    GOES_WELL(story->far->ops->connect_finish(story->far, sockets[3]));
    for (uint32_t i = 0; i < 4; i++) {
        story->far->ops->close(story->far, sockets[i]);
    }
    story->near->ops->close(story->near, first);
    story->near->ops->close(story->near, story->listener);
}
STORY(crowded);

/* A full backlog answers nobody. Numbers are the lowest free ones. */
TEST(net_full_backlog_times_out)
{
    host_lab_pass(&crowded_scenario, 200);
}

/* Holds N2 of the network's side: without a descriptor the connection stays where it is. */
static void
no_descriptor(struct sim_world *world, struct story *story)
{
    struct rt_net_address peer;
    serve(world, story, 4);
    sim_node_limit(story->server, 1);
    story->stream = call(story);
    settle(world);
    REFUSES(story->near->ops->accept(story->near, story->listener, &story->accepted, &peer),
            RT_E_NO_DESCRIPTOR);
    story->near->ops->close(story->near, story->listener);
    settle(world);
    /* Nobody has accepted it, and now nobody will. */
    char byte = 0;
    size_t size = 0;
    REFUSES(get(story->far, story->stream, &byte, &size), RT_E_RESET);
    story->far->ops->close(story->far, story->stream);
}
STORY(no_descriptor);

TEST(net_listener_that_goes_resets_whoever_waits)
{
    host_lab_pass(&no_descriptor_scenario, 200);
}

/* ---- Bytes and ends. ------------------------------------------------------------------------- */

static void
half_closed(struct sim_world *world, struct story *story)
{
    char text[16];
    size_t size = 0;
    connect_both(world, story);
    size_t sent = put(story->far, story->stream, "hello");
    GOES_WELL(story->far->ops->shutdown(story->far, story->stream));
    REFUSES(story->far->ops->shutdown(story->far, story->stream), RT_E_CLOSED);
    settle(world);
    size_t got = 0;
    while (got < sent) {
        GOES_WELL(get(story->near, story->accepted, text + got, &size));
        got += size;
    }
    EXPECT(memcmp(text, "hello", sent) == 0);
    REFUSES(get(story->near, story->accepted, text, &size), RT_E_CLOSED);
    /* The other direction is open still. */
    (void)put(story->near, story->accepted, "x");
    settle(world);
    GOES_WELL(get(story->far, story->stream, text, &size));
    EXPECT_EQ(text[0], 'x');
    close_all(story);
}
STORY(half_closed);

/* Bytes come in order and before the end, and half a connection goes on. */
TEST(net_half_close_leaves_the_other_half)
{
    host_lab_pass(&half_closed_scenario, 200);
}

static void
full_pipe(struct sim_world *world, struct story *story)
{
    size_t sent = 0;
    size_t size = 0;
    char text[16];
    connect_both(world, story);
    while (rt_net_write(story->far, story->stream, "abcdefgh", 8 - sent, &size, RT_HERE) == RT_OK) {
        sent += size;
        if (sent == 8) {
            break;
        }
    }
    EXPECT_EQ(sent, 8);
    REFUSES(rt_net_write(story->far, story->stream, "i", 1, &size, RT_HERE), RT_E_AGAIN);
    settle(world);
    GOES_WELL(get(story->near, story->accepted, text, &size));
    GOES_WELL(rt_net_write(story->far, story->stream, "i", 1, &size, RT_HERE));
    settle(world);
    /* Closed with bytes that nobody has read: the peer is reset. */
    story->near->ops->close(story->near, story->accepted);
    settle(world);
    REFUSES(get(story->far, story->stream, text, &size), RT_E_RESET);
    REFUSES(rt_net_write(story->far, story->stream, "j", 1, &size, RT_HERE), RT_E_CLOSED);
    story->far->ops->close(story->far, story->stream);
    story->near->ops->close(story->near, story->listener);
}
STORY(full_pipe);

TEST(net_close_with_unread_bytes_resets_the_peer)
{
    host_lab_pass(&full_pipe_scenario, 200);
}

static void
to_nobody(struct sim_world *world, struct story *story)
{
    size_t size = 0;
    connect_both(world, story);
    story->near->ops->close(story->near, story->accepted);
    settle(world);
    /* The first write is lost, what comes back is a reset, the next one is told so (N6). */
    (void)put(story->far, story->stream, "a");
    settle(world);
    REFUSES(rt_net_write(story->far, story->stream, "b", 1, &size, RT_HERE), RT_E_RESET);
    REFUSES(rt_net_write(story->far, story->stream, "c", 1, &size, RT_HERE), RT_E_CLOSED);
    story->far->ops->close(story->far, story->stream);
    story->near->ops->close(story->near, story->listener);
}
STORY(to_nobody);

/* Holds N6. */
TEST(net_write_to_a_closed_peer_is_an_error_and_no_signal)
{
    host_lab_pass(&to_nobody_scenario, 200);
}

static void
full_and_closed(struct sim_world *world, struct story *story)
{
    rt_err err = RT_OK;
    char block[512] = {0};
    size_t size = 0;
    sim_host_undivided(story->far_host); /* A close and a write in a row. */
    connect_both(world, story);
    while ((err = rt_net_write(story->far, story->stream, block, sizeof block, &size, RT_HERE)) ==
            RT_OK) {
    }
    REFUSES(err, RT_E_AGAIN);
    story->near->ops->close(story->near, story->accepted);
    /* The reset is on its way: there is no more room than before. */
    REFUSES(rt_net_write(story->far, story->stream, block, 1, &size, RT_HERE), RT_E_AGAIN);
    settle(world);
    REFUSES(rt_net_write(story->far, story->stream, block, 1, &size, RT_HERE), RT_E_RESET);
    story->far->ops->close(story->far, story->stream);
    story->near->ops->close(story->near, story->listener);
}
STORY(full_and_closed);

TEST(net_close_of_a_full_connection_is_known_when_it_has_arrived)
{
    host_lab_pass(&full_and_closed_scenario, 200);
}

/* ---- Events. --------------------------------------------------------------------------------- */

static void
edges(struct sim_world *world, struct story *story)
{
    struct rt_net_event events[4];
    uint32_t object = 0;
    connect_both(world, story);
    GOES_WELL(story->near->ops->watch(story->near, story->accepted, 7, &object));
    EXPECT(object != 0);
    /* What holds already is told, once. */
    EXPECT_EQ(rt_net_fetch(story->near, events, 4), 1);
    EXPECT_EQ(events[0].token, 7);
    EXPECT_EQ(events[0].events, RT_NET_WRITABLE);
    EXPECT_EQ(rt_net_fetch(story->near, events, 4), 0);
    (void)put(story->far, story->stream, "a");
    settle(world);
    EXPECT_EQ(rt_net_fetch(story->near, events, 4), 1);
    EXPECT((events[0].events & RT_NET_READABLE) != 0);
    EXPECT_EQ(rt_net_fetch(story->near, events, 4), 0);
    story->far->ops->close(story->far, story->stream);
    settle(world);
    EXPECT_EQ(rt_net_fetch(story->near, events, 4), 1);
    EXPECT((events[0].events & RT_NET_READ_CLOSED) != 0);
    story->near->ops->unwatch(story->near, story->accepted);
    story->near->ops->close(story->near, story->accepted);
    story->near->ops->close(story->near, story->listener);
}
STORY(edges);

/* From nothing to something is an edge, always, and each is told once. */
TEST(net_edges_are_told_once)
{
    host_lab_pass(&edges_scenario, 200);
}

/* ---- What is held against the user. ---------------------------------------------------------- */

static void
leaky(struct sim_world *world, struct story *story)
{
    connect_both(world, story);
    story->near->ops->close(story->near, story->accepted);
}
STORY(leaky);

/* A connection that is open when its loop has returned is a leak; the listener is none. */
TEST(net_connection_left_open_is_a_leak)
{
    host_lab_expect(&leaky_scenario, 20, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE);
}

static void
stale(struct sim_world *world, struct story *story)
{
    connect_both(world, story);
    close_all(story);
    (void)story->far->ops->connect_finish(story->far, story->stream);
}
STORY(stale);

TEST(net_socket_used_after_its_close_breaks_the_contract)
{
    host_lab_expect(&stale_scenario, 20, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST);
}

/* ---- Faults. --------------------------------------------------------------------------------- */

static struct {
    uint32_t aborted;
    uint32_t reset;
    uint32_t timed_out;
    uint32_t fine;
} seen;

static void
faulty(struct sim_world *world, struct story *story)
{
    struct rt_net_address peer;
    size_t size = 0;
    serve(world, story, 4);
    story->stream = call(story);
    settle(world);
    rt_err err = story->far->ops->connect_finish(story->far, story->stream);
    seen.timed_out += err == RT_E_TIMED_OUT;
    if (err == RT_OK) {
        err = story->near->ops->accept(story->near, story->listener, &story->accepted, &peer);
        seen.aborted += err == RT_E_ABORTED;
    }
    if (err == RT_OK) {
        err = rt_net_write(story->far, story->stream, "a", 1, &size, RT_HERE);
        seen.reset += err == RT_E_RESET;
        seen.fine += err == RT_OK;
        story->near->ops->close(story->near, story->accepted);
    }
    story->far->ops->close(story->far, story->stream);
    story->near->ops->close(story->near, story->listener);
}
STORY(faulty);

/* Under fault `net`, and only then: connections are aborted and reset, and not always. */
TEST(net_faults_happen_where_they_are_survived)
{
    struct sim_scenario scenario = faulty_scenario;
    host_lab_pass(&scenario, 100);
    EXPECT_EQ(seen.fine, 101);
    scenario.survives = SIM_FAULT_NET;
    host_lab_pass(&scenario, 3000);
    EXPECT(seen.aborted > 10);
    EXPECT(seen.reset > 10);
    EXPECT(seen.fine > 1000);
}
