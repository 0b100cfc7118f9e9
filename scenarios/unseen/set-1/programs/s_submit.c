/*
 * s_submit.c -- Two shards of rewake's runtime ask shard 0 for the cluster's leader; shard 0
 * answers when its election task has finished.
 *
 * Cause: Shard 0 keeps a single message that waits for the election, so a second question
 * overwrites the first, which is never answered.
 * Where: ask_leader
 * Kind: waiter replaced
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ASKERS 2

static bool fixed;

struct cluster {
    struct sim_shard_group *group;
    struct rt_message *waiting[ASKERS];
    uint32_t waits;
    struct rt_task election;
    struct rt_sleep votes;
    uint64_t takes;
    uint32_t at;
    uint32_t answered;
    bool elected;
};

struct asker {
    struct rt_task task;
    struct cluster *cluster;
    uint32_t shard;
    struct rt_sleep starts;
    struct rt_submit submit;
    uint64_t delay;
    uint32_t at;
};

/* On shard 0. */
static void
ask_leader(struct rt_message *message, struct rt_shard *shard)
{
    struct asker *asker = rt_container_of(message, struct asker, submit.message);
    struct cluster *cluster = asker->cluster;
    if (cluster->elected) {
        rt_message_answer(message, shard, RT_OK);
        return;
    }
    cluster->waiting[fixed ? cluster->waits : 0] = message; /* Where. */
    cluster->waits = fixed ? cluster->waits + 1 : 1;
}

static rt_poll
election_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cluster *cluster = rt_container_of(task, struct cluster, election);
    RT_BEGIN(cluster->at);
    rt_sleep_init(&cluster->votes, cluster->takes);
    RT_AWAIT_HERE(cluster->at, rt_sleep_poll(&cluster->votes, cx));
    cluster->elected = true;
    for (uint32_t i = 0; i < cluster->waits; i++) {
        rt_message_answer(cluster->waiting[i], sim_shard_group_shard(cluster->group, 0), RT_OK);
    }
    RT_END(cluster->at);
}

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct asker *asker = rt_container_of(task, struct asker, task);
    struct cluster *cluster = asker->cluster;
    RT_BEGIN(asker->at);
    rt_sleep_init(&asker->starts, asker->delay);
    RT_AWAIT_HERE(asker->at, rt_sleep_poll(&asker->starts, cx));
    rt_submit_to(
            &asker->submit, sim_shard_group_shard(cluster->group, asker->shard), 0, ask_leader);
    RT_AWAIT_HERE(asker->at, rt_future_poll(&asker->submit.future, cx));
    SIM_ALWAYS(asker->submit.message.result == RT_OK);
    if (++cluster->answered == ASKERS) {
        rt_shards_close(sim_shard_group_shards(cluster->group));
    }
    RT_END(asker->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"asker-1", "asker-2"};
    struct cluster *cluster = sim_new(world, struct cluster);
    cluster->group = sim_shard_group_new(world, &(struct sim_shard_group_options){.count = 3});
    cluster->takes = sim_range(world, RT_MS, 3 * RT_MS);
    rt_task_init(&cluster->election, election_poll, NULL, "election");
    sim_spawn(sim_shard_group_rt(cluster->group, 0), &cluster->election);
    for (uint32_t i = 0; i < ASKERS; i++) {
        struct asker *asker = sim_new(world, struct asker);
        asker->cluster = cluster;
        asker->shard = i + 1;
        asker->delay = i * 4 * RT_MS - (i > 0 ? sim_range(world, 0, 4 * RT_MS) : 0);
        rt_task_init(&asker->task, asker_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(cluster->group, asker->shard), &asker->task);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-submit/broken",
        .about = "Shards that ask another shard for the leader.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/s-submit/fixed",
        .about = "Shards that ask another shard for the leader.", .setup = setup_fixed);
