// Cause: driver_main(): it reaps completions and never asks `overflowed`, so it never enters the host again. When
// more operations complete than the completion queue has places, the rest is set aside and delivered only by an
// enter: the pollable stays ready, reap returns nothing, and the driver spins for ever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define READS 4u

struct driver {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    char buffers[READS][8];
    bool unentered; /* The host has not taken all submissions. */
    uint32_t done;
    bool delivers;
};

static void
enter(struct driver *driver)
{
    rt_err err = driver->ring->ops->enter(driver->ring);
    SIM_ALWAYS(err == RT_OK || err == RT_E_AGAIN);
    driver->unentered = err == RT_E_AGAIN;
}

static void
submit_read(struct driver *driver, uint32_t number, int32_t device)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_READ,
            .target = device,
            .buffer = driver->buffers[number],
            .size = sizeof(driver->buffers[number]),
            .user_data = number + 1};
    SIM_ALWAYS(driver->ring->ops->push(driver->ring, &submission) == RT_OK);
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    (void)world;
    enter(driver);
    while (driver->done < READS) {
        struct rt_pollable *list[1] = {&driver->completions};
        struct rt_completion batch[READS];
        uint32_t ready[1];
        uint32_t count = 0;
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, ready, &count) == RT_OK);
        count = driver->ring->ops->reap(driver->ring, batch, READS);
        for (uint32_t i = 0; i < count; i++) {
            SIM_ALWAYS(batch[i].result > 0);
            driver->done++;
            SIM_PROGRESS();
        }
        if (driver->unentered ||
                (driver->delivers && driver->ring->ops->overflowed(driver->ring))) {
            enter(driver);
        }
    }
    rt_pollable_drop(&driver->completions);
}

static void
begin(struct sim_world *world, bool delivers)
{
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring_options small = {.submissions = READS, .completions = 2};
    struct sim_ring *ring = sim_ring_new(host, "ring", &small);
    driver->world = world;
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->delivers = delivers;
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    for (uint32_t i = 0; i < READS; i++) {
        uint64_t from_ns = (i + 1) * 2 * RT_MS;
        submit_read(driver, i,
                sim_ring_device(ring, "file", "contents", 8, 8, from_ns, from_ns + 6 * RT_MS));
    }
    (void)sim_loop_new(world, "driver", driver_main, driver);
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

SIM_SCENARIO(cqfull_broken, .name = "set7/s7_cqfull/broken",
        .about = "Four reads, and a completion queue of two.", .setup = setup_broken);
SIM_SCENARIO(cqfull_fixed, .name = "set7/s7_cqfull/fixed",
        .about = "Four reads, and a completion queue of two.", .setup = setup_fixed);
