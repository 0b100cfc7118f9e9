/*
 * shard.c -- shards as loops on fibers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/shard.h"

#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/loop.h"

struct member {
    struct rt_shard shard;
    struct sim_shard_group *group;
    struct sim_rt *rt;
    struct sim_loop *loop;
};

struct sim_shard_group {
    struct sim_world *world;
    struct rt_shards shards;
    uint32_t count;
    struct member members[SIM_SHARDS_MAX];
};

static const char *const names[SIM_SHARDS_MAX] = {
        "shard 0", "shard 1", "shard 2", "shard 3", "shard 4", "shard 5", "shard 6", "shard 7"};

/* The world's stack may use every shard: setup, and the judge. */
static bool
here(void *argument)
{
    const struct member *member = argument;
    const struct sim_loop *current = sim_loop_current(member->group->world);
    return current == NULL || current == member->loop;
}

/* A poll is one step, so a send or a submit inside of one does not pause. */
static bool
is_polling(const struct sim_shard_group *group)
{
    const struct sim_loop *current = sim_loop_current(group->world);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct member *member = &group->members[i];
        if (member->loop == current && member->rt->runtime.executor.running) {
            return true;
        }
    }
    return false;
}

static void
between(void *argument)
{
    const struct member *member = argument;
    if (!is_polling(member->group)) {
        sim_loop_pause(member->group->world);
    }
}

static void
member_main(struct sim_world *world, void *argument)
{
    struct member *member = argument;
    rt_err err = rt_shard_run(&member->shard);
    if (err != RT_OK) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current, 0,
                "the loop of '%s' failed: %s (%s)", member->rt->name, rt_err_text(err),
                rt_err_name(err));
    }
}

static void
member_new(struct sim_shard_group *group, uint32_t number,
        const struct sim_shard_group_options *options)
{
    struct sim_world *world = group->world;
    struct member *member = &group->members[number];
    uint32_t capacity = options->capacity != 0 ? options->capacity : 16;
    member->group = group;
    member->rt = sim_rt_new(world,
            &(struct sim_rt_options){.name = names[number], .capacity = capacity, .by_loop = true});
    struct rt_shard_config config = {
            .runtime = &member->rt->runtime,
            .cells = sim_alloc(world, capacity * sizeof(struct rt_remote_cell)),
            .aliens_max = options->aliens_max != 0 ? options->aliens_max : 4,
            .here = here,
            .between = between,
            .argument = member,
    };
    rt_err err = rt_shard_init(&member->shard, &group->shards, number, &config);
    rt_assert(err == RT_OK);
    member->loop = sim_loop_new(world, names[number], member_main, member);
}

struct sim_shard_group *
sim_shard_group_new(struct sim_world *world, const struct sim_shard_group_options *options)
{
    static const struct sim_shard_group_options defaults = {0};
    options = options != NULL ? options : &defaults;
    struct sim_shard_group *group = sim_new(world, struct sim_shard_group);
    group->world = world;
    group->count = options->count != 0 ? options->count : 2;
    rt_assert(group->count <= SIM_SHARDS_MAX);
    uint32_t lane = options->lane_capacity != 0 ? options->lane_capacity : 4;
    uint32_t pipes = group->count * group->count;
    struct rt_shards_config config = {
            .count = group->count,
            .members = sim_alloc(world, group->count * sizeof(struct rt_shard *)),
            .pipes = sim_alloc(world, pipes * sizeof(struct rt_pipe)),
            .places = sim_alloc(world, (size_t)pipes * lane * sizeof(struct rt_message *)),
            .lane_capacity = lane,
    };
    rt_shards_init(&group->shards, &config);
    for (uint32_t i = 0; i < group->count; i++) {
        member_new(group, i, options);
    }
    return group;
}

struct rt_shards *
sim_shard_group_shards(struct sim_shard_group *group)
{
    return &group->shards;
}

struct rt_shard *
sim_shard_group_shard(struct sim_shard_group *group, uint32_t number)
{
    rt_assert(number < group->count);
    return &group->members[number].shard;
}

struct sim_rt *
sim_shard_group_rt(struct sim_shard_group *group, uint32_t number)
{
    rt_assert(number < group->count);
    return group->members[number].rt;
}
