/*
 * r_overflow.c -- A disk scanner keeps six reads on a ring whose completion queue holds two. The
 * host sets further completions aside and delivers them with the next enter.
 *
 * Cause: After reaping, the driver does not enter the host again when completions were set aside
 * (overflowed), so they never get into the completion queue although its pollable stays ready.
 * Where: reap_all
 * Kind: overflowed completions not flushed
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READS 6

static bool fixed;

struct scanner {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    struct rt_pollable timer;
    char buffer[READS][4];
    uint32_t done;
    uint32_t rounds;
};

static void
reap_all(struct scanner *scanner)
{
    struct rt_completion completion[8];
    const struct rt_completion_ops *ops = scanner->ring->ops;
    for (;;) {
        uint32_t n = ops->reap(scanner->ring, completion, 8);
        scanner->done += n;
        if (!fixed || !ops->overflowed(scanner->ring)) { /* Where. */
            break;
        }
        (void)ops->enter(scanner->ring);
    }
}

static void
scanner_main(struct sim_world *world, void *argument)
{
    struct scanner *scanner = argument;
    struct rt_pollable *list[1] = {&scanner->completions};
    for (;;) {
        reap_all(scanner);
        if (scanner->done == READS) {
            break;
        }
        uint32_t ready[1];
        uint32_t count = 1;
        SIM_ALWAYS(rt_host_poll(scanner->host, list, 1, ready, &count) == RT_OK);
        sim_sleep(world, 300 * RT_US); /* Checks sums. */
    }
    rt_pollable_drop(&scanner->completions);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[READS] = {"a", "b", "c", "d", "e", "f"};
    struct scanner *scanner = sim_new(world, struct scanner);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "ring",
            &(struct sim_ring_options){
                    .submissions = 8, .completions = 2, .min_ns = 1000, .max_ns = RT_MS});
    scanner->host = sim_host_seam(host);
    scanner->ring = sim_ring_seam(ring);
    for (uint32_t i = 0; i < READS; i++) {
        struct rt_submission read = {.opcode = RT_OPCODE_READ,
                .target = sim_ring_device(ring, names[i], "sum", 3, 3, 1000, RT_MS),
                .buffer = scanner->buffer[i],
                .size = 4,
                .user_data = i + 1};
        SIM_ALWAYS(scanner->ring->ops->push(scanner->ring, &read) == RT_OK);
    }
    SIM_ALWAYS(scanner->ring->ops->enter(scanner->ring) == RT_OK);
    SIM_ALWAYS(scanner->ring->ops->subscribe(scanner->ring, &scanner->completions) == RT_OK);
    sim_loop_new(world, "scanner", scanner_main, scanner);
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

SIM_SCENARIO(form_broken, .name = "unseen/r-overflow/broken",
        .about = "More completions than the queue holds.", .setup = setup_broken,
        .expect = SIM_VERDICT_LIVELOCK, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/r-overflow/fixed",
        .about = "More completions than the queue holds.", .setup = setup_fixed);
