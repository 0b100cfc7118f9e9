// Cause: s2_watchver.c:46 the watch call on the owner's shard stores the watcher without a look at the version: if the version has changed since the client read it, between its two messages, the change is over, and the watcher is never answered.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

enum { CLIENT, OWNER };

/* On the owner's shard. */
struct settings {
    uint32_t version;
    struct rt_message *watcher;
    bool fixed;
};

struct client {
    struct rt_task task;
    struct sim_shard_group *group;
    struct settings *settings;
    struct rt_submit get, watch;
    uint32_t seen; /* written by whoever holds the message */
    uint32_t at;
};

struct owner {
    struct rt_task task;
    struct sim_shard_group *group;
    struct settings *settings;
    struct rt_sleep sleep;
    uint64_t when_ns;
    uint32_t at;
};

static void get_call(struct rt_message *message, struct rt_shard *shard)
{
    struct client *client = rt_container_of(message, struct client, get.message);
    client->seen = client->settings->version;
    rt_message_answer(message, shard, RT_OK);
}

static void watch_call(struct rt_message *message, struct rt_shard *shard)
{
    struct client *client = rt_container_of(message, struct client, watch.message);
    if (client->settings->fixed && client->settings->version != client->seen)
        rt_message_answer(message, shard, RT_OK);
    else
        client->settings->watcher = message;
}

static rt_poll client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    for (;;) {
        rt_submit_to(&client->get, sim_shard_group_shard(client->group, CLIENT), OWNER, get_call);
        RT_AWAIT_HERE(client->at, rt_future_poll(&client->get.future, cx));
        if (client->seen == 1)
            break;
        rt_submit_to(&client->watch, sim_shard_group_shard(client->group, CLIENT), OWNER, watch_call);
        RT_AWAIT_HERE(client->at, rt_future_poll(&client->watch.future, cx));
    }
    rt_shards_close(sim_shard_group_shards(client->group));
    RT_END(client->at);
}

static rt_poll owner_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct owner *owner = rt_container_of(task, struct owner, task);
    RT_BEGIN(owner->at);
    rt_sleep_init(&owner->sleep, owner->when_ns);
    RT_AWAIT_HERE(owner->at, rt_sleep_poll(&owner->sleep, cx));
    owner->settings->version = 1;
    if (owner->settings->watcher != NULL) {
        struct rt_message *watcher = owner->settings->watcher;
        owner->settings->watcher = NULL;
        rt_message_answer(watcher, sim_shard_group_shard(owner->group, OWNER), RT_OK);
    }
    RT_END(owner->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct settings *settings = sim_new(world, struct settings);
    struct client *client = sim_new(world, struct client);
    struct owner *owner = sim_new(world, struct owner);
    settings->fixed = fixed;
    client->group = owner->group = group;
    client->settings = owner->settings = settings;
    owner->when_ns = sim_pick(world, 2) == 0 ? RT_MS : sim_range(world, RT_US / 2, 3 * RT_US);
    rt_task_init(&client->task, client_poll, NULL, "client");
    rt_task_init(&owner->task, owner_poll, NULL, "owner");
    sim_spawn(sim_shard_group_rt(group, CLIENT), &client->task);
    sim_spawn(sim_shard_group_rt(group, OWNER), &owner->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/watchver/broken", .about = "A watch that does not compare the version.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/watchver/fixed", .about = "A watch of an old version is answered at once.",
        .setup = setup_fixed);
