// SPDX-License-Identifier: Apache-2.0
/* Cause: driver_turn(), line 51: enter() is called only for new submissions, so completions that the
 * host has set aside because the queue was full are never delivered, and the loop turns in circles.
 * repair: enter also when the host has overflowed. */
#include <sim/rewake.h>

#define FILES 4
#define SIZE 4

struct read {
    char buffer[SIZE];
    int32_t file;
    uint32_t total;
    bool busy;
    bool ended;
};

struct driver {
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    uint32_t queued; /* Submissions since the last enter. */
    uint32_t open;
    bool delivers;
    struct read reads[FILES];
};

static bool
driver_submit(struct driver *driver, struct read *read)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_READ,
            .target = read->file,
            .size = SIZE - read->total,
            .buffer = read->buffer + read->total,
            .user_data = (uint64_t)(read - driver->reads)};
    if (driver->ring->ops->push(driver->ring, &submission) != RT_OK) {
        return false;
    }
    driver->queued++;
    read->busy = true;
    return true;
}

static void
driver_turn(struct driver *driver)
{
    for (uint32_t i = 0; i < FILES; i++) {
        struct read *read = &driver->reads[i];
        if (!read->busy && !read->ended && !driver_submit(driver, read)) {
            break;
        }
    }
    bool overflow = driver->delivers && driver->ring->ops->overflowed(driver->ring);
    if (driver->queued > 0 || overflow) {
        rt_err err = driver->ring->ops->enter(driver->ring);
        SIM_ALWAYS(err == RT_OK || err == RT_E_AGAIN);
        if (err == RT_OK) {
            driver->queued = 0;
        }
    }
}

static void
driver_reap(struct sim_world *world, struct driver *driver)
{
    struct rt_completion done[2];
    uint32_t count = driver->ring->ops->reap(driver->ring, done, 2);
    for (uint32_t i = 0; i < count; i++) {
        struct read *read = &driver->reads[done[i].user_data];
        SIM_ALWAYS(done[i].result > 0);
        read->busy = false;
        read->total += (uint32_t)done[i].result;
        sim_work(world, sim_range(world, 0, 500 * RT_US)); /* A checksum. */
        if (read->total == SIZE) {
            read->ended = true;
            driver->open--;
        }
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    while (driver->open > 0) {
        struct rt_pollable *list[1] = {&driver->completions};
        uint32_t index;
        uint32_t ready;
        driver_turn(driver);
        SIM_ALWAYS(rt_host_poll(driver->completions.host, list, 1, &index, &ready) == RT_OK);
        driver_reap(world, driver);
    }
    rt_pollable_drop(&driver->completions);
    for (uint32_t i = 0; i < FILES; i++) {
        SIM_ALWAYS(driver->reads[i].total == SIZE);
    }
}

static void
begin(struct sim_world *world, bool delivers)
{
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, "kernel", SIM_PROFILE_DEFAULT);
    struct sim_ring_options options = {.submissions = 4, .completions = 2};
    struct sim_ring *ring = sim_ring_new(host, "ring", &options);
    driver->ring = sim_ring_seam(ring);
    driver->delivers = delivers;
    driver->open = FILES;
    for (uint32_t i = 0; i < FILES; i++) {
        driver->reads[i].file = sim_ring_device(ring, "file", "data", SIZE, SIZE, 0, 100 * RT_US);
    }
    (void)sim_loop_new(world, "driver", loop_main, driver);
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

SIM_SCENARIO(reads_broken, .name = "reads/broken", .about = "Four files are read at a time.",
        .setup = setup_broken);
SIM_SCENARIO(
        reads_fixed, .name = "reads/fixed", .about = "The same, repaired.", .setup = setup_fixed);
