// Cause: reader_poll(), the line `continue` after a cancel: it takes every operation that it has asked to cancel for
// cancelled, and looks at no result. The cancel may come too late: then the read has taken bytes from the device,
// and its result says how many; they are thrown away, and the end comes with bytes missing.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <string.h>

#include <sim/rewake.h>

#define PLACES 4u

static const char text[] = "It was a dark and stormy night; the rain fell in torrents";

struct reader {
    struct rt_task task;
    struct sim_world *world;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t device;
    struct rt_op op;
    struct rt_op_result result;
    struct rt_sleep patience;
    char buffer[16];
    uint32_t at;
    size_t total;
    uint32_t time_outs;
    bool asked_to_cancel;
    bool ended;
    bool looks;
};

static void
start_read(struct reader *reader)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = reader->device,
                                            .buffer = reader->buffer,
                                            .size = sizeof(reader->buffer)}};
    reader->asked_to_cancel = false;
    rt_sleep_init(&reader->patience, 2 * RT_MS);
    rt_op_start(&reader->op, &reader->ring, &request);
}

/* The read, or its end after a cancel, as the time is up. */
static rt_poll
read_for_a_while(struct reader *reader, struct rt_cx *cx)
{
    if (!reader->asked_to_cancel && rt_sleep_poll(&reader->patience, cx) == RT_READY) {
        reader->asked_to_cancel = true;
        rt_op_cancel(&reader->op);
    }
    RT_AWAIT(rt_op_poll(&reader->op, cx, &reader->result));
    rt_sleep_cancel(&reader->patience);
    return RT_READY;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    RT_BEGIN(reader->at);
    while (!reader->ended) {
        start_read(reader);
        RT_AWAIT_HERE(reader->at, read_for_a_while(reader, cx));
        if (reader->asked_to_cancel && !reader->looks) {
            reader->time_outs++;
            continue;
        }
        if (reader->result.result == RT_E_CANCELLED) {
            reader->time_outs++;
        } else {
            SIM_ALWAYS(reader->result.result >= 0);
            reader->ended = reader->result.result == 0;
            reader->total += (size_t)reader->result.result;
        }
    }
    SIM_ALWAYS(reader->total == strlen(text));
    RT_END(reader->at);
}

static void
begin(struct sim_world *world, bool looks)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reader *reader = sim_new(world, struct reader);
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = reader->places,
            .entries = reader->entries,
            .capacity = PLACES};
    reader->world = world;
    reader->looks = looks;
    SIM_ALWAYS(rt_ring_init(&reader->ring, &config) == RT_OK);
    reader->device = sim_ring_device(host, "device", text, strlen(text), 16, RT_US, 3 * RT_MS);
    rt_op_init(&reader->op);
    rt_task_init(&reader->task, reader_poll, NULL, "reader");
    sim_spawn(rt, &reader->task);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(lateread_broken, .name = "set7/s7_lateread/broken",
        .about = "Reads with a time limit, which cancels them.", .setup = setup_broken);
SIM_SCENARIO(lateread_fixed, .name = "set7/s7_lateread/fixed",
        .about = "Reads with a time limit, which cancels them.", .setup = setup_fixed);
