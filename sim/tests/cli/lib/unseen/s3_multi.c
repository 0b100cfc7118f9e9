// Cause: s3_multi.c:71 after as many connections as one turn may take the acceptor returns pending without having polled its operation to PENDING and without waking itself: more results are there, and no waker is stored for them.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CONNECTIONS 5
#define PER_TURN 2
#define PLACES 4
#define RESULTS 8

struct acceptor {
    struct rt_task task;
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_ring_result results[RESULTS];
    struct rt_op accept;
    struct rt_slot order;
    int32_t listener;
    uint32_t accepted;
    bool started;
    bool stopping;
    bool fixed;
};

static void
acceptor_start(struct acceptor *acceptor)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_ACCEPT, .multi = true,
            .target = acceptor->listener}};
    rt_op_start(&acceptor->accept, &acceptor->ring, &request);
    acceptor->started = true;
}

static rt_poll
acceptor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct acceptor *acceptor = rt_container_of(task, struct acceptor, task);
    struct rt_op_result result;
    uint32_t turns = PER_TURN;
    bool waits = false;
    while (turns-- > 0) {
        if (!acceptor->started) {
            acceptor_start(acceptor);
        }
        if (rt_op_poll(&acceptor->accept, cx, &result) == RT_PENDING) {
            waits = true;
            break;
        }
        if (result.result >= 0) {
            acceptor->accepted++;
            SIM_PROGRESS();
            SIM_ALWAYS(sim_ring_close(acceptor->host, result.result) == RT_OK);
        }
        acceptor->started = result.more;
        if (acceptor->accepted == CONNECTIONS) {
            if (!acceptor->started) {
                return RT_READY;
            }
            if (!acceptor->stopping) {
                acceptor->stopping = true;
                rt_op_cancel(&acceptor->accept);
            }
            turns++;
        }
    }
    if (!waits && acceptor->fixed) {
        rt_cx_reenqueue(cx);
    }
    rt_slot_replace(&acceptor->order, cx, "an order to stop, or a connection");
    return RT_PENDING;
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct acceptor *acceptor = sim_new(world, struct acceptor);
    struct sim_ring_options options = {.submissions = 4, .completions = 8,
            .min_ns = 10 * RT_US, .max_ns = RT_MS};
    acceptor->host = sim_ring_new(sim_rt_host(rt), "ring", &options);
    acceptor->listener = sim_ring_listener(
            acceptor->host, "port", CONNECTIONS, "hello", RT_MS / 4, 3 * RT_MS);
    acceptor->fixed = fixed;
    struct rt_ring_config config = {.host = sim_ring_seam(acceptor->host),
            .runtime = sim_rt_runtime(rt), .places = acceptor->places,
            .entries = acceptor->entries, .capacity = PLACES, .results = acceptor->results,
            .result_count = RESULTS};
    SIM_ALWAYS(rt_ring_init(&acceptor->ring, &config) == RT_OK);
    rt_op_init(&acceptor->accept);
    rt_slot_init(&acceptor->order);
    rt_task_init(&acceptor->task, acceptor_poll, NULL, "acceptor");
    sim_spawn(rt, &acceptor->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_multi/broken", .about = "One accept, many connections.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_multi/fixed", .about = "One accept, many connections.",
        .setup = setup_fixed);
