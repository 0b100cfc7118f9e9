/*
 * ring.c -- a copy through a completion ring, as over io_uring: reads and writes until the end.
 *
 * The bug: a write is taken as complete. A ring may move fewer bytes than it was asked for; what it
 * has left is never written. The fix: write on from where it has stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include <sim/rewake.h>

#define TEXT "a line that takes more than one read"
#define SIZE (sizeof TEXT - 1)
#define PLACES 4u

struct copy {
    struct rt_task task;
    struct sim_ring *host;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t from;
    int32_t to;
    char buffer[16];
    uint32_t filled;
    uint32_t written; /* Of these. */
    struct rt_op op;
    struct rt_op_result result;
    uint32_t at;
    bool broken;
};

/* The ring owns `buffer` until the operation is over. */
static void
begin(struct copy *copy, uint16_t opcode, int32_t target, char *buffer, uint32_t size)
{
    struct rt_op_request request = {
            .submission = {.opcode = opcode, .target = target, .size = size, .buffer = buffer}};
    rt_op_init(&copy->op);
    rt_op_start(&copy->op, &copy->ring, &request);
}

static rt_poll
copy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct copy *copy = rt_container_of(task, struct copy, task);
    RT_BEGIN(copy->at);
    for (;;) {
        begin(copy, RT_OPCODE_READ, copy->from, copy->buffer, sizeof copy->buffer);
        RT_AWAIT_HERE(copy->at, rt_op_poll(&copy->op, cx, &copy->result));
        SIM_ALWAYS(copy->result.result >= 0);
        if (copy->result.result == 0) {
            break;
        }
        copy->filled = (uint32_t)copy->result.result;
        copy->written = 0;
        do {
            begin(copy, RT_OPCODE_WRITE, copy->to, copy->buffer + copy->written,
                    copy->filled - copy->written);
            RT_AWAIT_HERE(copy->at, rt_op_poll(&copy->op, cx, &copy->result));
            SIM_ALWAYS(copy->result.result > 0);
            copy->written += (uint32_t)copy->result.result;
        } while (copy->written < copy->filled && !copy->broken);
    }
    size_t size = 0;
    const char *text = sim_ring_written(copy->host, copy->to, &size);
    SIM_ALWAYS(size == SIZE && memcmp(text, TEXT, SIZE) == 0);
    RT_END(copy->at);
}

static void
set_up(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct copy *copy = sim_new(world, struct copy);
    copy->broken = broken;
    copy->host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    copy->from = sim_ring_device(copy->host, "source", TEXT, SIZE, 10, 0, RT_MS);
    copy->to = sim_ring_device(copy->host, "sink", "", 0, 1, 0, RT_MS);
    struct rt_ring_config config = {.host = sim_ring_seam(copy->host),
            .runtime = sim_rt_runtime(rt),
            .places = copy->places,
            .entries = copy->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&copy->ring, &config) == RT_OK);
    rt_task_init(&copy->task, copy_poll, NULL, "copy");
    sim_spawn(rt, &copy->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, true);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "ring/broken", .about = "A write is taken as complete.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "ring/fixed", .about = "What a write has left is written.",
        .setup = set_up_fixed);
