/*
 * r_backlog.c -- A driver on a completion host (like io_uring) with a submission queue of two
 * entries. Reads that do not fit are kept in a backlog.
 *
 * Cause: The driver submits its backlog only when exactly one of two operations has completed;
 * when both complete in one batch it submits nothing, and with nothing in flight no completion
 * follows.
 * Where: driver_main
 * Kind: backlog never submitted
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define FILES 5

static bool fixed;

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    int32_t file[FILES];
    char buffer[FILES][16];
    uint32_t next; /* Files from here on are the backlog. */
    uint32_t in_flight;
    uint32_t done;
};

static void
submit_backlog(struct driver *driver)
{
    while (driver->next < FILES && driver->in_flight < 2) {
        struct rt_submission read = {.opcode = RT_OPCODE_READ,
                .target = driver->file[driver->next],
                .buffer = driver->buffer[driver->next],
                .size = 16,
                .user_data = driver->next + 1};
        if (driver->ring->ops->push(driver->ring, &read) != RT_OK) {
            break;
        }
        driver->next++;
        driver->in_flight++;
    }
    (void)driver->ring->ops->enter(driver->ring);
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    struct rt_pollable *list[1] = {&driver->completions};
    struct rt_completion completion[2];
    (void)world;
    submit_backlog(driver);
    while (driver->done < FILES) {
        uint32_t ready[1];
        uint32_t count = 1;
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, ready, &count) == RT_OK);
        uint32_t n;
        bool full = driver->in_flight == 2;
        while ((n = driver->ring->ops->reap(driver->ring, completion, 2)) > 0) {
            driver->in_flight -= n;
            driver->done += n;
        }
        if (fixed || (full && driver->in_flight == 1)) { /* There is room again. */ /* Where. */
            submit_backlog(driver);
        }
    }
    rt_pollable_drop(&driver->completions);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[FILES] = {"a", "b", "c", "d", "e"};
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(
            host, "ring", &(struct sim_ring_options){.submissions = 2, .completions = 4});
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    for (int i = 0; i < FILES; i++) {
        driver->file[i] = sim_ring_device(ring, names[i], "contents", 8, 8, 1000, RT_MS);
    }
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completions) == RT_OK);
    sim_loop_new(world, "driver", driver_main, driver);
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

SIM_SCENARIO(form_broken, .name = "unseen/r-backlog/broken",
        .about = "A driver with a backlog of reads.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/r-backlog/fixed",
        .about = "A driver with a backlog of reads.", .setup = setup_fixed);
