/* A reader of a device on a completion ring that cancels a read that takes too long, and reads again.
 * Cause: source_poll() (line 85): a read that was asked to end is taken for one that has moved nothing, but it may have
 * been done before the cancel came. Repair: look at its result as at any other. */
#include <sim/rewake.h>

#define SIZE 24
#define CHUNK 6
#define PLACES 2

struct buffer {
    char bytes[CHUNK];
};

struct copy {
    struct rt_task task;
    struct sim_world *world;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct rt_op op;
    struct rt_sleep limit;
    struct buffer buffer;
    struct rt_op_result result;
    char read[SIZE];
    uint32_t length;
    uint32_t cancelled;
    int32_t device;
    uint32_t at;
    uint64_t limit_ns;
    bool asked;
    bool ended;
    bool repaired;
};

static const char data[SIZE + 1] = "abcdefghijklmnopqrstuvwx";

static void
read_start(struct copy *copy)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = copy->device,
                                            .size = CHUNK,
                                            .buffer = copy->buffer.bytes}};
    rt_op_start(&copy->op, &copy->ring, &request);
}

/* READY when the read is over, which is asked to end when the time is up. */
static rt_poll
read_poll(struct copy *copy, struct rt_cx *cx)
{
    rt_poll answer = rt_op_poll(&copy->op, cx, &copy->result);
    if (answer == RT_READY) {
        rt_sleep_cancel(&copy->limit);
        return RT_READY;
    }
    if (!copy->asked && rt_sleep_poll(&copy->limit, cx) == RT_READY) {
        copy->asked = true;
        rt_op_cancel(&copy->op);
        return rt_op_poll(&copy->op, cx, &copy->result);
    }
    return RT_PENDING;
}

static void
take(struct copy *copy, int32_t count)
{
    SIM_ALWAYS(copy->length + (uint32_t)count <= SIZE);
    for (int32_t i = 0; i < count; i++) {
        copy->read[copy->length++] = copy->buffer.bytes[i];
    }
    SIM_PROGRESS();
}

static rt_poll
source_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct copy *copy = rt_container_of(task, struct copy, task);
    RT_BEGIN(copy->at);
    while (!copy->ended) {
        read_start(copy);
        rt_sleep_init(&copy->limit, copy->limit_ns);
        copy->asked = false;
        RT_AWAIT_HERE(copy->at, read_poll(copy, cx));
        if (copy->asked && !copy->repaired) {
            copy->cancelled++;
            continue;
        }
        if (copy->result.result == 0) {
            copy->ended = true;
        } else if (copy->result.result > 0) {
            take(copy, copy->result.result);
        } else {
            SIM_ALWAYS(copy->result.result == RT_E_CANCELLED);
            copy->cancelled++;
        }
        if (copy->cancelled > 4) {
            copy->limit_ns = RT_SECOND;
        }
    }
    SIM_ALWAYS(copy->length == SIZE);
    for (uint32_t i = 0; i < SIZE; i++) {
        SIM_ALWAYS(copy->read[i] == data[i]);
    }
    RT_END(copy->at);
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct copy *copy = sim_new(world, struct copy);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    copy->world = world;
    copy->repaired = repaired;
    copy->limit_ns = sim_range(world, 3 * RT_MS, 5 * RT_MS);
    copy->device = sim_ring_device(host, "tape", data, SIZE, CHUNK, RT_MS / 2, 4 * RT_MS);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = copy->places,
            .entries = copy->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&copy->ring, &config) == RT_OK);
    rt_op_init(&copy->op);
    rt_task_init(&copy->task, source_poll, NULL, "source");
    sim_spawn(rt, &copy->task);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(ring_broken, .name = "s14_ring/broken", .about = "A read with a time limit.",
        .setup = setup_broken);
SIM_SCENARIO(ring_fixed, .name = "s14_ring/fixed", .about = "A read with a time limit, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
