// Cause: submit() puts an operation for which the submission queue is full on a backlog, and only the next call of
// submit() pushes the backlog (first line of submit). When the last requests arrive together, more than the queue
// has places, no submit follows: driver_main() enters and reaps, but the backlog is never pushed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define REQUESTS 5u
#define PLACES 2u

struct driver {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    struct rt_pollable bell;
    int32_t devices[REQUESTS];
    char records[REQUESTS][8];
    uint32_t asked; /* By the client's thread. */
    uint32_t taken;
    uint32_t backlog[REQUESTS];
    uint32_t backlog_first;
    uint32_t backlog_end;
    uint32_t done;
    bool flushes;
};

static bool
push(struct driver *driver, uint32_t number)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_WRITE,
            .target = driver->devices[number],
            .buffer = driver->records[number],
            .size = sizeof(driver->records[number]),
            .user_data = number + 1};
    rt_err err = driver->ring->ops->push(driver->ring, &submission);
    SIM_ALWAYS(err == RT_OK || err == RT_E_FULL);
    return err == RT_OK;
}

static void
push_backlog(struct driver *driver)
{
    while (driver->backlog_first < driver->backlog_end &&
            push(driver, driver->backlog[driver->backlog_first])) {
        driver->backlog_first++;
    }
}

static void
submit(struct driver *driver, uint32_t number)
{
    push_backlog(driver);
    if (driver->backlog_first < driver->backlog_end || !push(driver, number)) {
        driver->backlog[driver->backlog_end++] = number;
    }
}

static void
reap(struct driver *driver)
{
    struct rt_completion batch[REQUESTS];
    uint32_t count = driver->ring->ops->reap(driver->ring, batch, REQUESTS);
    for (uint32_t i = 0; i < count; i++) {
        SIM_ALWAYS(batch[i].result > 0);
        driver->done++;
        SIM_PROGRESS();
    }
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    (void)world;
    while (driver->done < REQUESTS) {
        struct rt_pollable *list[2] = {&driver->bell, &driver->completions};
        uint32_t ready[2];
        uint32_t count = 0;
        SIM_ALWAYS(rt_host_poll(driver->host, list, 2, ready, &count) == RT_OK);
        reap(driver);
        if (driver->flushes) {
            push_backlog(driver);
        }
        while (driver->taken < driver->asked) {
            submit(driver, driver->taken++);
        }
        rt_err err = driver->ring->ops->enter(driver->ring);
        SIM_ALWAYS(err == RT_OK || err == RT_E_AGAIN);
    }
    rt_pollable_drop(&driver->completions);
    rt_pollable_drop(&driver->bell);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        sim_sleep(world, 50 * RT_US - sim_range(world, 0, 49 * RT_US));
        driver->asked++;
        rt_host_notify(driver->host);
    }
}

static void
begin(struct sim_world *world, bool flushes)
{
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring_options small = {.submissions = PLACES, .completions = 8};
    struct sim_ring *ring = sim_ring_new(host, "ring", &small);
    driver->world = world;
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->flushes = flushes;
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    SIM_ALWAYS(rt_host_subscribe(driver->host, RT_SUBSCRIBE_NOTIFY, 0, &driver->bell) == RT_OK);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        driver->devices[i] = sim_ring_device(ring, "log", "", 0, 1, RT_US, RT_US);
    }
    (void)sim_loop_new(world, "driver", driver_main, driver);
    (void)sim_loop_new(world, "client", client_main, driver);
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

SIM_SCENARIO(backlog_broken, .name = "set7/s7_backlog/broken",
        .about = "Writes that another thread asks for, over a small submission queue.",
        .setup = setup_broken);
SIM_SCENARIO(backlog_fixed, .name = "set7/s7_backlog/fixed",
        .about = "Writes that another thread asks for, over a small submission queue.",
        .setup = setup_fixed);
