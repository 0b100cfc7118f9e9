/*
 * shard.h -- a house of shards in the simulated world.
 *
 * sim_house_new makes some shards, each with a runtime and a fake host of its own, and each an
 * actor: its loop (rt_shard_run) on a fiber. Between any two things that other threads could see or
 * change a loop gives way: between any two messages that it takes, between a message in the lane
 * and the telling of its receiver, on both sides of the word that says "I sleep". What happens in
 * between is the world's decision. An alien is a sim_loop of the scenario's own.
 *
 * W4: the world knows whose loop is being stepped, so a waker used on another shard is found at
 * that use. The run is not over before all loops have returned, so somebody must close the house.
 *
 * C only: C++ has no _Atomic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BIND_SHARD_H
#define SIM_BIND_SHARD_H

#ifndef __cplusplus

#include "runtime/shard/shard.h"
#include "runtime/shard/submit.h"
#include "sim/bind/runtime.h"

struct sim_house_options {
    uint32_t count;         /* Shards; 0: 2. At most 8. */
    uint32_t lane_capacity; /* A power of two; 0: 4, so that lanes do get full. */
    uint32_t aliens_max;    /* 0: 4. */
    uint32_t capacity;      /* Tasks of each shard; 0: 16. */
};

#define SIM_SHARDS_MAX 8u

struct sim_house;

/* Makes a house whose loops run from the first step on; `options` NULL: all defaults. */
struct sim_house *sim_house_new(struct sim_world *world, const struct sim_house_options *options);

/* Its parts. */
struct rt_shards *sim_house_shards(struct sim_house *house);
struct rt_shard *sim_house_shard(struct sim_house *house, uint32_t number);
struct sim_rt *sim_house_rt(struct sim_house *house, uint32_t number);

#endif
#endif
