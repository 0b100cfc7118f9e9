/*
 * s_barrier.c -- Three simulation shards step in lock-step: a barrier at the end of each step,
 * with an eventfd for each shard.
 *
 * Cause: The last shard to arrive resets the arrival count after it has woken the others, so the
 * arrival of a fast shard at the next barrier is wiped out and that barrier never opens.
 * Where: barrier_wait
 * Kind: state reset after the wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SHARDS 3
#define STEPS 3

static bool fixed;

struct barrier {
    struct sim_fds *os[SHARDS];
    int bell[SHARDS];
    uint32_t arrived;
    uint32_t phase;
};

struct shard {
    struct barrier *barrier;
    uint32_t number;
};

static void
barrier_wait(struct barrier *barrier, uint32_t number)
{
    uint32_t phase = barrier->phase;
    struct sim_fd_event event;
    uint64_t count;
    if (++barrier->arrived == SHARDS) {
        if (fixed) {
            barrier->arrived = 0;
        }
        barrier->phase++;
        for (uint32_t i = 0; i < SHARDS; i++) {
            if (i != number) {
                SIM_ALWAYS(sim_fd_notify(barrier->os[i], barrier->bell[i]) == RT_OK);
            }
        }
        if (!fixed) {
            barrier->arrived = 0; /* Where. */
        }
        return;
    }
    while (barrier->phase == phase) {
        sim_fd_wait(barrier->os[number], &event, 1, SIM_NEVER);
        sim_fd_read(barrier->os[number], barrier->bell[number], &count, sizeof(count));
    }
}

static void
shard_main(struct sim_world *world, void *argument)
{
    struct shard *shard = argument;
    for (int step = 0; step < STEPS; step++) {
        sim_sleep(world, sim_range(world, 0, 1000)); /* Moves its bodies. */
        barrier_wait(shard->barrier, shard->number);
        SIM_PROGRESS();
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[SHARDS] = {"shard-0", "shard-1", "shard-2"};
    struct barrier *barrier = sim_new(world, struct barrier);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct shard *shard = sim_new(world, struct shard);
        barrier->os[i] = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(barrier->os[i], "bell", &barrier->bell[i]) == RT_OK);
        SIM_ALWAYS(sim_fd_add(barrier->os[i], barrier->bell[i], SIM_FD_IN, 0) == RT_OK);
        shard->barrier = barrier;
        shard->number = i;
        sim_loop_new(world, names[i], shard_main, shard);
    }
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

SIM_SCENARIO(form_broken, .name = "unseen/s-barrier/broken",
        .about = "A barrier between three shards.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/s-barrier/fixed",
        .about = "A barrier between three shards.", .setup = setup_fixed);
