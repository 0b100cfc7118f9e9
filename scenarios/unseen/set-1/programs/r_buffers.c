/*
 * r_buffers.c -- Readers on a ring share one registered buffer. A reader gives up after a time
 * and drops its operation; the buffer comes back through the operation's release function.
 *
 * Cause: The release function of a dropped read returns the buffer to the pool without waking
 * the reader that waits for a buffer.
 * Where: on_release
 * Kind: missing wake on the cancel path
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READERS 3

static bool fixed;

struct pool {
    struct rt_ring ring;
    struct rt_ring_place places[4];
    struct rt_slab_entry entries[4];
    struct rt_wait_queue waiters;
    struct rt_wait_queue_entry waiting[READERS];
    char buffer[16];
    bool taken;
    int32_t device[READERS];
};

struct reader {
    struct rt_task task;
    struct pool *pool;
    int number;
    bool reading;
    struct rt_op op;
    struct rt_sleep patience;
};

static void
pool_put(struct pool *pool, bool wake)
{
    pool->taken = false;
    if (wake) {
        rt_wait_queue_wake(&pool->waiters, 1);
    }
}

static void
on_release(void *argument, int32_t result, bool more)
{
    (void)result;
    if (!more) {
        pool_put(argument, fixed); /* Where. */
    }
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct pool *pool = reader->pool;
    if (!reader->reading) {
        if (pool->taken) {
            SIM_ALWAYS(rt_wait_queue_store(&pool->waiters, cx, "a buffer") == RT_OK);
            return RT_PENDING;
        }
        (void)rt_wait_queue_leave(&pool->waiters, cx);
        pool->taken = true;
        struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                                .target = pool->device[reader->number],
                                                .buffer = pool->buffer,
                                                .size = 16},
                .release = on_release,
                .argument = pool};
        rt_op_start(&reader->op, &pool->ring, &request);
        rt_sleep_init(&reader->patience, 3 * RT_MS);
        reader->reading = true;
    }
    struct rt_op_result result;
    if (rt_op_poll(&reader->op, cx, &result) == RT_READY) {
        rt_sleep_cancel(&reader->patience);
        pool_put(pool, true);
        return RT_READY;
    }
    RT_AWAIT(rt_sleep_poll(&reader->patience, cx));
    rt_op_cancel(&reader->op);
    rt_op_drop(&reader->op);
    return RT_READY; /* Too slow. */
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READERS] = {"reader-0", "reader-1", "reader-2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pool *pool = sim_new(world, struct pool);
    struct sim_ring *ring = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    SIM_ALWAYS(rt_ring_init(&pool->ring, &(struct rt_ring_config){.host = sim_ring_seam(ring),
                                                 .runtime = sim_rt_runtime(rt),
                                                 .places = pool->places,
                                                 .entries = pool->entries,
                                                 .capacity = 4}) == RT_OK);
    rt_wait_queue_init(&pool->waiters, pool->waiting, READERS);
    for (int i = 0; i < READERS; i++) {
        struct reader *reader = sim_new(world, struct reader);
        pool->device[i] = sim_ring_device(ring, names[i], "text", 4, 4, RT_MS, 6 * RT_MS);
        reader->pool = pool;
        reader->number = i;
        rt_op_init(&reader->op);
        rt_task_init(&reader->task, reader_poll, NULL, names[i]);
        sim_spawn(rt, &reader->task);
    }
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

SIM_SCENARIO(form_broken, .name = "unseen/r-buffers/broken",
        .about = "Readers that share one registered buffer.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/r-buffers/fixed",
        .about = "Readers that share one registered buffer.", .setup = setup_fixed);
