/* Cause: read_on(), line 58: after a cancel it takes any result for "cancelled", but a read that had completed
 * before has bytes, and those are dropped from the stream; repair: count `result` whenever it is positive. */
#include <string.h>

#include <sim/rewake.h>

/* A log shipper on a completion ring: when nothing came for a while it cancels its read, and pings. */

#define PLACES 2
#define PINGS_MAX 6

static const char text[] = "disk full\nfan stopped\nall is well\n";
#define SIZE (sizeof text - 1)

struct shipper {
    struct rt_task task;
    bool fixed;
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_op op;
    struct rt_sleep idle;
    int32_t device;
    uint64_t idle_ns;
    uint32_t at;
    uint32_t pings;
    bool cancelled;
    size_t got;
    char log[SIZE + 1];
};

static void
start_read(struct shipper *shipper)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = shipper->device,
                                            .buffer = shipper->log + shipper->got,
                                            .size = (uint32_t)(SIZE - shipper->got)}};
    rt_op_start(&shipper->op, &shipper->ring, &request);
    rt_sleep_init(&shipper->idle, shipper->pings < PINGS_MAX ? shipper->idle_ns : RT_NEVER);
    shipper->cancelled = false;
}

static rt_poll
read_on(struct shipper *shipper, struct rt_cx *cx)
{
    struct rt_op_result result;
    if (!shipper->cancelled && rt_sleep_poll(&shipper->idle, cx) == RT_READY) {
        shipper->cancelled = true;
        rt_op_cancel(&shipper->op);
    }
    RT_AWAIT(rt_op_poll(&shipper->op, cx, &result));
    rt_sleep_cancel(&shipper->idle);
    if (shipper->cancelled) {
        shipper->pings++;
    }
    if (result.result > 0 && (shipper->fixed || !shipper->cancelled)) {
        shipper->got += (size_t)result.result;
    }
    return RT_READY;
}

static rt_poll
shipper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct shipper *shipper = rt_container_of(task, struct shipper, task);
    RT_BEGIN(shipper->at);
    while (shipper->got < SIZE) {
        start_read(shipper);
        RT_AWAIT_HERE(shipper->at, read_on(shipper, cx));
        SIM_ALWAYS(strncmp(shipper->log, text, shipper->got) == 0);
    }
    RT_END(shipper->at);
}

static void
shipper_cleanup(struct rt_task *task)
{
    struct shipper *shipper = rt_container_of(task, struct shipper, task);
    rt_sleep_cancel(&shipper->idle);
    rt_op_drop(&shipper->op);
    SIM_ALWAYS(sim_ring_close(shipper->host, shipper->device) == RT_OK);
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct shipper *shipper = sim_new(world, struct shipper);
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_ring_options options = {.submissions = 2, .completions = 2};
    shipper->fixed = fixed;
    shipper->host = sim_ring_new(sim_rt_host(rt), "ring", &options);
    struct rt_ring_config config = {.host = sim_ring_seam(shipper->host),
            .runtime = sim_rt_runtime(rt),
            .places = shipper->places,
            .entries = shipper->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&shipper->ring, &config) == RT_OK);
    rt_op_init(&shipper->op);
    shipper->idle_ns = sim_range(world, 2 * RT_MS, 4 * RT_MS);
    shipper->device = sim_ring_device(shipper->host, "log", text, SIZE, 12, 1 * RT_MS, 3 * RT_MS);
    rt_task_init(&shipper->task, shipper_poll, shipper_cleanup, "shipper");
    sim_spawn(rt, &shipper->task);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_ring_b, .name = "s15/ring/broken", .about = "Bytes of a cancelled read are lost.",
        .setup = broken);
SIM_SCENARIO(s15_ring_f, .name = "s15/ring/fixed", .about = "A result is used, cancelled or not.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
