// Cause: composer_poll() takes its credit for the nested lookup from the same semaphore (`credits`, by same_credits())
// of which asker_poll() on that shard holds the only one until its compose is answered. If both askers hold theirs,
// each composer waits for the credit of its own shard, and neither compose is answered: a circle. Nested calls need
// credits of their own.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Two shards. A request to compose a page goes to the other shard, which looks something up on the
 * shard that has asked. Calls between shards are limited by credits, so that no queue grows. */
#include <sim/rewake.h>

#define SHARDS 2

struct node {
    struct rt_task asker;
    uint32_t asker_at;
    struct rt_sleep pause;
    uint64_t pause_ns;
    struct rt_acquire asker_acquire;
    struct rt_submit compose;

    struct rt_task composer;
    uint32_t composer_at;
    struct rt_message *composing; /* The request that it answers. */
    struct rt_acquire composer_acquire;
    struct rt_submit lookup;

    struct rt_semaphore credits;
    struct rt_semaphore inner;
    struct rt_semaphore *of_composer; /* Which credits it takes. */
    struct site *site;
    struct rt_shard *shard;
    uint32_t other;
};

struct site {
    struct sim_shard_group *group;
    struct node nodes[SHARDS];
    uint32_t unanswered;
};

static void
lookup_arrive(struct rt_message *message, struct rt_shard *shard)
{
    rt_message_answer(message, shard, RT_OK);
}

static void
compose_arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct node *sender = rt_container_of(message, struct node, compose.message);
    struct node *node = &sender->site->nodes[sender->other];
    node->composing = message;
    SIM_ALWAYS(rt_post(&shard->runtime->executor, &node->composer) == RT_OK);
}

static rt_poll
composer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct node *node = rt_container_of(task, struct node, composer);
    RT_BEGIN(node->composer_at);
    rt_acquire_init(&node->composer_acquire, node->of_composer, 1);
    RT_AWAIT_HERE(node->composer_at, rt_acquire_poll(&node->composer_acquire, cx));
    rt_submit_to(&node->lookup, node->shard, node->other, lookup_arrive);
    RT_AWAIT_HERE(node->composer_at, rt_future_poll(&node->lookup.future, cx));
    SIM_ALWAYS(rt_semaphore_release(node->of_composer, 1) == RT_OK);
    rt_message_answer(node->composing, node->shard, RT_OK);
    RT_END(node->composer_at);
}

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct node *node = rt_container_of(task, struct node, asker);
    RT_BEGIN(node->asker_at);
    rt_sleep_init(&node->pause, node->pause_ns);
    RT_AWAIT_HERE(node->asker_at, rt_sleep_poll(&node->pause, cx));
    rt_acquire_init(&node->asker_acquire, &node->credits, 1);
    RT_AWAIT_HERE(node->asker_at, rt_acquire_poll(&node->asker_acquire, cx));
    rt_submit_to(&node->compose, node->shard, node->other, compose_arrive);
    RT_AWAIT_HERE(node->asker_at, rt_future_poll(&node->compose.future, cx));
    SIM_ALWAYS(rt_semaphore_release(&node->credits, 1) == RT_OK);
    if (--node->site->unanswered == 0) {
        rt_shards_close(sim_shard_group_shards(node->site->group));
    }
    RT_END(node->asker_at);
}

static void
setup_site(struct sim_world *world, struct rt_semaphore *(*credits_of)(struct node *))
{
    static const char *const askers[SHARDS] = {"asker 0", "asker 1"};
    static const char *const composers[SHARDS] = {"composer 0", "composer 1"};
    struct site *site = sim_new(world, struct site);
    site->group = sim_shard_group_new(world, NULL);
    site->unanswered = SHARDS;
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct node *node = &site->nodes[i];
        node->site = site;
        node->shard = sim_shard_group_shard(site->group, i);
        node->other = 1 - i;
        node->pause_ns = sim_range(world, (i + 1) * 100 * RT_US, 400 * RT_US);
        rt_semaphore_init(&node->credits, 1);
        rt_semaphore_init(&node->inner, 1);
        node->of_composer = credits_of(node);
        rt_task_init(&node->composer, composer_poll, NULL, composers[i]);
        rt_task_init(&node->asker, asker_poll, NULL, askers[i]);
        sim_spawn(sim_shard_group_rt(site->group, i), &node->asker);
    }
}

static struct rt_semaphore *
same_credits(struct node *node)
{
    return &node->credits;
}

static struct rt_semaphore *
own_credits(struct node *node)
{
    return &node->inner;
}

static void
setup_broken(struct sim_world *world)
{
    setup_site(world, same_credits);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_site(world, own_credits);
}

SIM_SCENARIO(nested_broken, .name = "nested/broken", .about = "Calls between two shards.",
        .setup = setup_broken);
SIM_SCENARIO(nested_fixed, .name = "nested/fixed", .about = "Calls between two shards.",
        .setup = setup_fixed);
