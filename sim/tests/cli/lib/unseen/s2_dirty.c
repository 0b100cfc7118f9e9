// Cause: s2_dirty.c:44 a submission that had to wait in the backlog is pushed later without marking the queue as dirty: the driver enters the host only for a dirty queue, so if no further request comes this one stays in the submission queue forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define REQUESTS 5
#define SIZE 8u

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions, requests;
    struct sim_source *source;
    bool fixed;
    bool dirty; /* something was pushed since the last enter */
    int32_t device;
    char line[REQUESTS][SIZE];
    uint32_t taken, pushed, done; /* backlog: from pushed to taken */
};

static bool push_next(struct driver *driver)
{
    uint32_t number = driver->pushed;
    struct rt_submission write = {.opcode = RT_OPCODE_WRITE, .target = driver->device,
            .size = SIZE, .buffer = driver->line[number], .user_data = number + 1};
    if (driver->ring->ops->push(driver->ring, &write) != RT_OK)
        return false; /* RT_E_FULL: it waits in the backlog */
    driver->pushed++;
    return true;
}

static void take_requests(struct driver *driver)
{
    while (driver->taken < REQUESTS && sim_source_take(driver->source) == RT_OK) {
        driver->taken++;
        if (driver->pushed == driver->taken - 1 && push_next(driver))
            driver->dirty = true;
    }
}

static void push_backlog(struct driver *driver)
{
    while (driver->pushed < driver->taken && push_next(driver))
        driver->dirty = driver->dirty || driver->fixed;
}

static void enter(struct driver *driver)
{
    while (driver->dirty) {
        driver->dirty = false;
        if (driver->ring->ops->enter(driver->ring) != RT_OK) {
            driver->dirty = true; /* again after the next completion */
            return;
        }
        if (driver->fixed)
            push_backlog(driver);
    }
}

static void driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    (void)world;
    while (driver->done < REQUESTS) {
        struct rt_pollable *list[2] = {&driver->completions, &driver->requests};
        struct rt_completion completion;
        uint32_t ready[2], count = driver->taken < REQUESTS ? 2 : 1;
        SIM_ALWAYS(rt_host_poll(driver->host, list, count, ready, &count) == RT_OK);
        while (driver->ring->ops->reap(driver->ring, &completion, 1) == 1) {
            SIM_ALWAYS(completion.result > 0);
            driver->done++;
            SIM_PROGRESS();
        }
        push_backlog(driver);
        take_requests(driver);
        enter(driver);
    }
    rt_pollable_drop(&driver->completions);
    rt_pollable_drop(&driver->requests);
}

static void setup(struct sim_world *world, bool fixed)
{
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "ring", &(struct sim_ring_options){.submissions = 2,
            .completions = 8, .min_ns = 10 * RT_US, .max_ns = 500 * RT_US});
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->fixed = fixed;
    driver->device = sim_ring_device(ring, "journal", "", 0, 1, RT_US, RT_MS);
    driver->source = sim_source_new(host, "requests");
    SIM_ALWAYS(sim_source_subscribe(driver->source, &driver->requests) == RT_OK);
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    for (uint32_t i = 0; i < REQUESTS; i++)
        sim_source_event_in(driver->source, (i + 1) * RT_MS, (i + 4) * RT_MS);
    (void)sim_loop_new(world, "driver", driver_main, driver);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/dirty/broken", .about = "A submission from the backlog is not handed over.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/dirty/fixed", .about = "Each push is followed by an enter.",
        .setup = setup_fixed);
