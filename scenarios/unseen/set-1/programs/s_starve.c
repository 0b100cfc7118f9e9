/*
 * s_starve.c -- A shard's loop runs its local queue and, when that is empty, looks for messages
 * of other shards. An indexing task posts itself again until it is told to stop.
 *
 * Cause: The loop looks at its eventfd only when the local queue is empty, and a task that
 * always posts itself again keeps the queue from ever being empty, so the stop message is never
 * read.
 * Where: shard_main
 * Kind: livelock by a branch that never gets its turn
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct shard {
    struct sim_fds *os;
    int messages;
    uint32_t local; /* Tasks in the local queue. */
    uint32_t turns;
    bool stopping;
    uint64_t indexed;
};

static void
index_some(struct shard *shard)
{
    shard->indexed++;
    if (!shard->stopping) {
        shard->local++; /* Goes on. */
    }
}

static void
take_messages(struct shard *shard, uint64_t timeout)
{
    struct sim_fd_event event;
    uint64_t count;
    if (sim_fd_wait(shard->os, &event, 1, timeout) == 1 &&
            sim_fd_read(shard->os, shard->messages, &count, sizeof(count)) > 0) {
        shard->stopping = true;
    }
}

static void
shard_main(struct sim_world *world, void *argument)
{
    struct shard *shard = argument;
    shard->local = 1;
    while (!shard->stopping || shard->local > 0) {
        if (shard->local > 0) { /* Where. */
            shard->local--;
            index_some(shard);
            sim_loop_pause(world);
            if (fixed && ++shard->turns % 8 == 0) {
                take_messages(shard, 0);
            }
            continue;
        }
        take_messages(shard, SIM_NEVER);
    }
}

static void
control_main(struct sim_world *world, void *argument)
{
    struct shard *shard = argument;
    sim_sleep(world, sim_range(world, 0, 20 * RT_US));
    SIM_ALWAYS(sim_fd_notify(shard->os, shard->messages) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    struct shard *shard = sim_new(world, struct shard);
    shard->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(shard->os, "messages", &shard->messages) == RT_OK);
    SIM_ALWAYS(sim_fd_add(shard->os, shard->messages, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "shard", shard_main, shard);
    sim_loop_new(world, "control", control_main, shard);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-starve/broken",
        .about = "A shard whose local queue is never empty.", .setup = setup_broken,
        .expect = SIM_VERDICT_LIVELOCK, .expect_also = SIM_VERDICT_STARVATION);
SIM_SCENARIO(form_fixed, .name = "unseen/s-starve/fixed",
        .about = "A shard whose local queue is never empty.", .setup = setup_fixed);
