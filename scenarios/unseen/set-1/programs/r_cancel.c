/*
 * r_cancel.c -- A driver with a table of two operation slots. A read that takes too long is
 * cancelled, and its slot is used for the next read.
 *
 * Cause: The driver frees the slot when it asks for the cancel instead of when the cancelled
 * read's own completion has arrived, so a late completion is taken for the next read in that
 * slot.
 * Where: cancel
 * Kind: completion delivered to the wrong waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READS 4
#define CANCEL_MARK 100

static bool fixed;

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    int32_t device[READS];
    bool busy[2];
    bool cancelled[2];
    uint32_t reading[2];
    char buffer[READS][8];
    uint32_t next;
    uint32_t ended;
    uint32_t outstanding;
    uint64_t started[2];
};

static void
start_reads(struct driver *driver)
{
    for (uint32_t slot = 0; slot < 2 && driver->next < READS; slot++) {
        if (driver->busy[slot]) {
            continue;
        }
        struct rt_submission read = {.opcode = RT_OPCODE_READ,
                .target = driver->device[driver->next],
                .buffer = driver->buffer[driver->next],
                .size = 8,
                .user_data = slot + 1};
        SIM_ALWAYS(driver->ring->ops->push(driver->ring, &read) == RT_OK);
        driver->reading[slot] = driver->next++;
        driver->busy[slot] = true;
        driver->cancelled[slot] = false;
        driver->outstanding++;
        driver->started[slot] = rt_host_now(driver->host);
    }
    (void)driver->ring->ops->enter(driver->ring);
}

static void
cancel(struct driver *driver, uint32_t slot)
{
    struct rt_submission cancel = {.opcode = RT_OPCODE_CANCEL,
            .cancels = slot + 1,
            .user_data = CANCEL_MARK + driver->reading[slot]};
    SIM_ALWAYS(driver->ring->ops->push(driver->ring, &cancel) == RT_OK);
    (void)driver->ring->ops->enter(driver->ring);
    driver->outstanding++;
    driver->cancelled[slot] = true;
    if (!fixed) {
        driver->busy[slot] = false; /* Where. */
        driver->ended++;
    }
}

static void
on_completion(struct driver *driver, const struct rt_completion *completion)
{
    driver->outstanding--;
    if (completion->user_data >= CANCEL_MARK) {
        return;
    }
    uint32_t slot = (uint32_t)completion->user_data - 1;
    if (driver->busy[slot]) {
        driver->busy[slot] = false;
        driver->ended++;
    }
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    (void)world;
    while (driver->ended < READS || driver->outstanding > 0) {
        start_reads(driver);
        struct rt_pollable deadline;
        struct rt_pollable *list[2] = {&driver->completions, &deadline};
        uint32_t ready[2];
        uint32_t count = 2;
        struct rt_completion completion;
        SIM_ALWAYS(rt_subscribe_duration(driver->host, RT_MS, &deadline) == RT_OK);
        SIM_ALWAYS(rt_host_poll(driver->host, list, 2, ready, &count) == RT_OK);
        rt_pollable_drop(&deadline);
        while (driver->ring->ops->reap(driver->ring, &completion, 1) == 1) {
            on_completion(driver, &completion);
        }
        uint64_t now = rt_host_now(driver->host);
        for (uint32_t slot = 0; slot < 2; slot++) {
            if (driver->busy[slot] && !driver->cancelled[slot] &&
                    now - driver->started[slot] >= 2 * RT_MS) {
                cancel(driver, slot);
            }
        }
    }
    rt_pollable_drop(&driver->completions);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READS] = {"a", "b", "c", "d"};
    struct driver *driver = sim_new(world, struct driver);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(
            host, "ring", &(struct sim_ring_options){.submissions = 8, .completions = 8});
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    for (int i = 0; i < READS; i++) {
        driver->device[i] = sim_ring_device(ring, names[i], "block", 5, 5, 1000, 4 * RT_MS);
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

SIM_SCENARIO(form_broken, .name = "unseen/r-cancel/broken",
        .about = "Reads that are cancelled when they take too long.", .setup = setup_broken,
        .expect = SIM_VERDICT_CONTRACT, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/r-cancel/fixed",
        .about = "Reads that are cancelled when they take too long.", .setup = setup_fixed);
