/*
 * A driver of a completion queue: reads from several devices, each by one operation after another.
 * Cause: driver_turn() (line 71) enters only where something was pushed, although completions that were set aside come by an enter alone.
 */
#include <sim/rewake.h>

#define DEVICES 4u

struct reader {
    int32_t device;
    char buffer[8];
    uint32_t got;
    bool ended;
};

struct driver {
    struct rt_host *host;
    struct rt_completion_host *queue;
    struct rt_pollable completions;
    struct reader readers[DEVICES];
    uint32_t backlog; /* Readers whose operation did not fit: one bit each. */
    uint32_t pushed;
    uint32_t live;
    bool fixed;
};

static void
driver_read(struct driver *driver, uint32_t number)
{
    struct reader *reader = &driver->readers[number];
    const struct rt_submission submission = {.opcode = RT_OPCODE_READ,
            .target = reader->device,
            .size = sizeof reader->buffer,
            .buffer = reader->buffer,
            .user_data = number + 1};
    if (driver->queue->ops->push(driver->queue, &submission) == RT_OK) {
        driver->pushed++;
        driver->backlog &= ~(1u << number);
    } else {
        driver->backlog |= 1u << number;
    }
}

static void
driver_completed(struct driver *driver, const struct rt_completion *completion)
{
    uint32_t number = (uint32_t)completion->user_data - 1;
    struct reader *reader = &driver->readers[number];
    SIM_ALWAYS(completion->result >= 0);
    if (completion->result == 0) {
        reader->ended = true;
        driver->live--;
        return;
    }
    reader->got += (uint32_t)completion->result;
    SIM_PROGRESS();
    driver_read(driver, number);
}

/* Hands over what was pushed, takes what has come. */
static void
driver_turn(struct driver *driver)
{
    struct rt_completion batch[2];
    uint32_t count;
    for (uint32_t i = 0; i < DEVICES; i++) {
        if (driver->backlog & 1u << i) {
            driver_read(driver, i);
        }
    }
    bool enters = driver->pushed > 0;
    if (driver->fixed) {
        enters = enters || driver->queue->ops->overflowed(driver->queue);
    }
    if (enters && driver->queue->ops->enter(driver->queue) == RT_OK) {
        driver->pushed = 0;
    }
    while ((count = driver->queue->ops->reap(driver->queue, batch, 2)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            driver_completed(driver, &batch[i]);
        }
    }
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    struct rt_pollable *list[] = {&driver->completions};
    uint32_t ready, count;
    (void)world;
    for (uint32_t i = 0; i < DEVICES; i++) {
        driver_read(driver, i);
    }
    for (;;) {
        driver_turn(driver);
        if (driver->live == 0) {
            break;
        }
        if (driver->pushed > 0 || driver->backlog != 0) {
            continue;
        }
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, &ready, &count) == RT_OK);
    }
    rt_pollable_drop(&driver->completions);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[DEVICES] = {"disk 1", "disk 2", "disk 3", "disk 4"};
    const struct sim_ring_options options = {.submissions = 2, .completions = 2};
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "queue", &options);
    driver->host = sim_host_seam(host);
    driver->queue = sim_ring_seam(ring);
    driver->fixed = fixed;
    driver->live = DEVICES;
    SIM_ALWAYS(driver->queue->ops->subscribe(driver->queue, &driver->completions) == RT_OK);
    for (uint32_t i = 0; i < DEVICES; i++) {
        driver->readers[i].device =
                sim_ring_device(ring, names[i], "0123456789", 10, 8, 0, 1 * RT_MS);
    }
    sim_loop_new(world, "driver", driver_main, driver);
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

SIM_SCENARIO(broken, .name = "s12-ring/broken", .about = "Four devices, a queue of two.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-ring/fixed", .about = "Four devices, a queue of two.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
