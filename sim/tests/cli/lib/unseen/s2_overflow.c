// Cause: s2_overflow.c:45 the driver reaps the completion queue and never enters the host again for the completions that were set aside when the queue was full: these are never delivered, and the driver turns forever without getting one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define READS 5
#define SIZE 4u

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    bool fixed;
    int32_t device[READS];
    char buffer[READS][SIZE];
    uint32_t done;
};

static void start_reads(struct driver *driver)
{
    for (uint32_t i = 0; i < READS; i++) {
        struct rt_submission read = {.opcode = RT_OPCODE_READ, .target = driver->device[i],
                .size = SIZE, .buffer = driver->buffer[i], .user_data = i + 1};
        SIM_ALWAYS(driver->ring->ops->push(driver->ring, &read) == RT_OK);
    }
    while (driver->ring->ops->enter(driver->ring) == RT_E_AGAIN) {
        /* The rest when there is a completion. */
        struct rt_completion completion;
        uint32_t ready, count = 1;
        struct rt_pollable *list[1] = {&driver->completions};
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, &ready, &count) == RT_OK);
        driver->done += driver->ring->ops->reap(driver->ring, &completion, 1);
    }
}

static void reap_all(struct driver *driver)
{
    struct rt_completion completion;
    for (;;) {
        while (driver->ring->ops->reap(driver->ring, &completion, 1) == 1) {
            driver->done++;
            SIM_PROGRESS();
        }
        if (!driver->fixed || !driver->ring->ops->overflowed(driver->ring))
            return;
        (void)driver->ring->ops->enter(driver->ring);
    }
}

static void driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    (void)world;
    start_reads(driver);
    while (driver->done < READS) {
        uint32_t ready, count = 1;
        struct rt_pollable *list[1] = {&driver->completions};
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, &ready, &count) == RT_OK);
        reap_all(driver);
    }
    rt_pollable_drop(&driver->completions);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[READS] = {"file 1", "file 2", "file 3", "file 4", "file 5"};
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "ring",
            &(struct sim_ring_options){.submissions = 8, .completions = 2, .min_ns = RT_US, .max_ns = RT_MS});
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->fixed = fixed;
    for (uint32_t i = 0; i < READS; i++)
        driver->device[i] = sim_ring_device(ring, names[i], "data", SIZE, SIZE,
                (i + 1) * RT_MS, (i + 4) * RT_MS);
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    (void)sim_loop_new(world, "driver", driver_main, driver);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/overflow/broken", .about = "Completions that were set aside are not asked for.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/overflow/fixed", .about = "The driver enters again after an overflow.",
        .setup = setup_fixed);
