/*
 * s_remote.c -- A cache on shard 1 is filled by a thread outside of the group (an alien): it
 * stores the value and wakes the task of shard 1 through its remote name.
 *
 * Cause: The filler decides whether to wake by a "has a waker" flag that it read before it
 * stored the value, so a reader that checks and registers in between waits forever.
 * Where: filler_main
 * Kind: flag checked before the change
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct cache {
    struct sim_world *world;
    struct sim_shard_group *group;
    struct rt_task task;
    struct rt_slot slot;
    struct rt_waker waker; /* Of the waiting task, for any thread. */
    bool has_waker;
    bool filled;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cache *cache = rt_container_of(task, struct cache, task);
    struct rt_shard *shard = sim_shard_group_shard(cache->group, 1);
    if (!cache->filled) {
        cache->waker = rt_remote_wait(shard, &cache->slot, cx, "the cache to be filled");
        cache->has_waker = true;
        return RT_PENDING;
    }
    rt_shards_close(sim_shard_group_shards(cache->group));
    return RT_READY;
}

static void
filler_main(struct sim_world *world, void *argument)
{
    struct cache *cache = argument;
    sim_sleep(world, sim_range(world, 0, 400));
    bool wanted = cache->has_waker; /* Where. */
    sim_loop_pause(world);          /* Reads the value from its file. */
    cache->filled = true;
    if (fixed) {
        wanted = cache->has_waker;
    }
    if (wanted) { /* Where. */
        cache->has_waker = false;
        rt_waker_wake(&cache->waker);
    }
}

static void
setup(struct sim_world *world)
{
    struct cache *cache = sim_new(world, struct cache);
    cache->world = world;
    cache->group = sim_shard_group_new(world, NULL);
    rt_slot_init(&cache->slot);
    rt_task_init(&cache->task, reader_poll, NULL, "reader");
    sim_spawn(sim_shard_group_rt(cache->group, 1), &cache->task);
    sim_loop_new(world, "filler", filler_main, cache);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-remote/broken",
        .about = "A cache that a thread fills for a shard.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/s-remote/fixed",
        .about = "A cache that a thread fills for a shard.", .setup = setup_fixed);
