/*
 * shard.h -- a group of shards in the simulated world.
 *
 * sim_shard_group_new makes some shards, each with a runtime and a fake host, and each an
 * actor: its loop (rt_shard_run) on a fiber. A loop pauses between any two accesses that other
 * threads could observe: between two messages that it takes, between putting a message in the
 * lane and notifying its receiver, before and after writing the word that means "asleep". Which
 * actors run in between is a decision. An alien is a sim_loop of the scenario.
 *
 * W4: the world knows whose loop takes the step, so a waker used on another shard is found at that
 * use. The run is not over before all loops have returned, so the scenario must close the group.
 *
 * C only: C++ has no _Atomic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#ifndef __cplusplus

#include "runtime/shard/shard.h"
#include "runtime/shard/submit.h"
#include "sim/bind/runtime.h"

struct sim_shard_group_options {
    uint32_t count;         /* Shards; 0: 2. At most 8. */
    uint32_t lane_capacity; /* A power of two; 0: 4, so that lanes do fill up. */
    uint32_t aliens_max;    /* 0: 4. */
    uint32_t capacity;      /* Tasks of each shard; 0: 16. */
};

#define SIM_SHARDS_MAX 8u

struct sim_shard_group;

/* Makes a group whose loops run from the first step on; `options` NULL: all defaults. */
struct sim_shard_group *sim_shard_group_new(
        struct sim_world *world, const struct sim_shard_group_options *options);

/* Its parts. */
struct rt_shards *sim_shard_group_shards(struct sim_shard_group *group);
struct rt_shard *sim_shard_group_shard(struct sim_shard_group *group, uint32_t number);
struct sim_rt *sim_shard_group_rt(struct sim_shard_group *group, uint32_t number);

#endif
