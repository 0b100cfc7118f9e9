// Cause: s3_overflow.c:36 the driver enters the host only while it has something to submit; completions that did not fit into the completion queue were set aside, are delivered by an enter alone, and stay there while the driver reaps an empty queue again and again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define READS 6
#define BATCH 2

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    int32_t devices[READS];
    char buffers[READS][8];
    bool ended[READS];
    uint32_t pushed;
    uint32_t finished;
    bool unsent; /* Something is in the submission queue. */
    bool fixed;
};

static void
driver_submit(struct driver *driver)
{
    while (driver->pushed < READS) {
        struct rt_submission read = {.opcode = RT_OPCODE_READ,
                .target = driver->devices[driver->pushed], .size = 8,
                .buffer = driver->buffers[driver->pushed], .user_data = 100 + driver->pushed};
        if (driver->ring->ops->push(driver->ring, &read) != RT_OK) {
            break;
        }
        driver->pushed++;
        driver->unsent = true;
    }
    bool behind = driver->fixed && driver->ring->ops->overflowed(driver->ring);
    if (driver->unsent || behind) {
        driver->unsent = driver->ring->ops->enter(driver->ring) != RT_OK;
    }
}

static uint32_t
driver_reap(struct driver *driver)
{
    struct rt_completion completions[BATCH];
    uint32_t count = driver->ring->ops->reap(driver->ring, completions, BATCH);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = completions[i].user_data - 100;
        SIM_ALWAYS(number < READS && !driver->ended[number]);
        SIM_ALWAYS(completions[i].result >= 0);
        if (!completions[i].more) {
            driver->ended[number] = true;
            driver->finished++;
            SIM_PROGRESS();
        }
    }
    return count;
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    struct rt_pollable *list[1] = {&driver->completions};
    (void)world;
    for (;;) {
        driver_submit(driver);
        uint32_t reaped = driver_reap(driver);
        if (driver->finished == READS) {
            break;
        }
        if (reaped > 0 || (driver->pushed < READS && !driver->unsent)) {
            continue;
        }
        uint32_t ready[1];
        uint32_t count;
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&driver->completions);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[READS] = {"disk 0", "disk 1", "disk 2", "disk 3", "disk 4",
            "disk 5"};
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring_options options = {.submissions = 4, .completions = 2,
            .min_ns = 10 * RT_US, .max_ns = 2 * RT_MS};
    struct sim_ring *ring = sim_ring_new(host, "ring", &options);
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->fixed = fixed;
    for (uint32_t i = 0; i < READS; i++) {
        uint64_t seek_ns = (1 + i) * RT_MS / 2 + sim_pick(world, 4) * RT_MS / 2;
        driver->devices[i] = sim_ring_device(
                ring, names[i], "a block", 8, 8, seek_ns, seek_ns + RT_MS);
    }
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    (void)sim_loop_new(world, "driver", driver_main, driver);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_overflow/broken", .about = "Six reads by two short queues.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_overflow/fixed", .about = "Six reads by two short queues.",
        .setup = setup_fixed);
