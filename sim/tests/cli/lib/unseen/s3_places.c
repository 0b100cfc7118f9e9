// Cause: s3_places.c:57 a fetcher that has lost its patience cancels its read and never takes the result, so the read keeps its place in the ring; when all places are kept like that the reads of the mirror stay queued for one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define FETCHERS 3
#define PLACES 2

struct fetcher {
    struct rt_task task;
    struct rt_ring *ring;
    struct rt_op first;
    struct rt_op second;
    struct rt_sleep patience;
    struct rt_op_result result;
    int32_t disk;
    int32_t mirror;
    char block[8];
    char mirrored[8];
    bool got;
    bool fixed;
    uint32_t at;
};

static void
fetcher_read(struct fetcher *fetcher, struct rt_op *op, int32_t device, char *buffer)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ, .target = device,
            .size = 8, .buffer = buffer}};
    rt_op_start(op, fetcher->ring, &request);
}

/* READY: it has the block, or no patience any more. */
static rt_poll
fetcher_wait(struct fetcher *fetcher, struct rt_cx *cx)
{
    if (rt_op_poll(&fetcher->first, cx, &fetcher->result) == RT_READY) {
        fetcher->got = fetcher->result.result > 0;
        rt_sleep_cancel(&fetcher->patience);
        return RT_READY;
    }
    return rt_sleep_poll(&fetcher->patience, cx);
}

static rt_poll
fetcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct fetcher *fetcher = rt_container_of(task, struct fetcher, task);
    RT_BEGIN(fetcher->at);
    fetcher_read(fetcher, &fetcher->first, fetcher->disk, fetcher->block);
    rt_sleep_init(&fetcher->patience, 3 * RT_MS);
    RT_AWAIT_HERE(fetcher->at, fetcher_wait(fetcher, cx));
    if (!fetcher->got) {
        if (fetcher->fixed) {
            rt_op_drop(&fetcher->first);
        } else {
            rt_op_cancel(&fetcher->first);
        }
        fetcher_read(fetcher, &fetcher->second, fetcher->mirror, fetcher->mirrored);
        RT_AWAIT_HERE(fetcher->at, rt_op_poll(&fetcher->second, cx, &fetcher->result));
        SIM_ALWAYS(fetcher->result.result > 0);
    }
    RT_END(fetcher->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[FETCHERS] = {"fetcher A", "fetcher B", "fetcher C"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_ring_options options = {.submissions = 4, .completions = 8,
            .min_ns = 10 * RT_US, .max_ns = RT_MS / 2};
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "ring", &options);
    struct rt_ring *ring = sim_new(world, struct rt_ring);
    struct rt_ring_config config = {.host = sim_ring_seam(host), .runtime = sim_rt_runtime(rt),
            .places = sim_zalloc(world, PLACES * sizeof(struct rt_ring_place)),
            .entries = sim_zalloc(world, PLACES * sizeof(struct rt_slab_entry)),
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(ring, &config) == RT_OK);
    for (uint32_t i = 0; i < FETCHERS; i++) {
        struct fetcher *fetcher = sim_new(world, struct fetcher);
        uint64_t seek_ns = sim_range(world, RT_MS / 2, 6 * RT_MS);
        fetcher->ring = ring;
        fetcher->fixed = fixed;
        fetcher->disk = sim_ring_device(host, "disk", "a block", 8, 8, seek_ns, seek_ns + RT_US);
        fetcher->mirror = sim_ring_device(host, "mirror", "a block", 8, 8, RT_US, RT_MS);
        rt_op_init(&fetcher->first);
        rt_op_init(&fetcher->second);
        rt_task_init(&fetcher->task, fetcher_poll, NULL, names[i]);
        sim_spawn(rt, &fetcher->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_places/broken", .about = "Reads with a mirror.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_places/fixed", .about = "Reads with a mirror.",
        .setup = setup_fixed);
