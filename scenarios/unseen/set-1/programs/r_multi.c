/*
 * r_multi.c -- A server accepts with one multishot operation and stops when an operator asks it
 * to.
 *
 * Cause: After a result with `more` the accept task waits only for the stop request, without
 * polling the multishot operation again, so further connections do not wake it.
 * Where: acceptor_poll
 * Kind: missing re-arm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CONNECTIONS 3

static bool fixed;

struct server {
    struct rt_task task;
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[4];
    struct rt_slab_entry entries[4];
    struct rt_ring_result results[8];
    int32_t listener;
    struct rt_op accept;
    struct rt_slot stop;
    bool started;
    bool stopping;
    uint32_t accepted;
};

static void
on_release(void *argument, int32_t result, bool more)
{
    struct server *server = argument;
    (void)more;
    if (result >= 0) {
        SIM_ALWAYS(sim_ring_close(server->host, result) == RT_OK);
    }
}

static rt_poll
acceptor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct server *server = rt_container_of(task, struct server, task);
    struct rt_op_result result;
    for (;;) {
        if (!server->started) {
            rt_op_start(&server->accept, &server->ring,
                    &((struct rt_op_request){.submission = {.opcode = RT_OPCODE_ACCEPT,
                                                     .multi = true,
                                                     .target = server->listener},
                            .release = on_release,
                            .argument = server}));
            server->started = true;
        }
        if (rt_op_poll(&server->accept, cx, &result) != RT_READY) {
            break;
        }
        server->started = result.more; /* The host may end it: then start another one. */
        if (result.result < 0) {
            return RT_READY;
        }
        SIM_ALWAYS(sim_ring_close(server->host, result.result) == RT_OK);
        server->accepted++;
        if (server->accepted == CONNECTIONS) {
            if (result.more) {
                rt_op_drop(&server->accept);
            }
            return RT_READY;
        }
        if (!fixed && result.more) {
            break; /* The operation goes on by itself. */ /* Where. */
        }
    }
    rt_slot_replace(&server->stop, cx, "a connection or a stop");
    return RT_PENDING;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct server *server = sim_new(world, struct server);
    server->host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    server->listener = sim_ring_listener(server->host, "port", CONNECTIONS, "hi", 1000, 3 * RT_MS);
    SIM_ALWAYS(rt_ring_init(
                       &server->ring, &(struct rt_ring_config){.host = sim_ring_seam(server->host),
                                              .runtime = sim_rt_runtime(rt),
                                              .places = server->places,
                                              .entries = server->entries,
                                              .capacity = 4,
                                              .results = server->results,
                                              .result_count = 8}) == RT_OK);
    rt_op_init(&server->accept);
    rt_slot_init(&server->stop);
    rt_task_init(&server->task, acceptor_poll, NULL, "acceptor");
    sim_spawn(rt, &server->task);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/r-multi/broken", .about = "A multishot accept.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/r-multi/fixed", .about = "A multishot accept.",
        .setup = setup_fixed);
