// SPDX-License-Identifier: Apache-2.0
/* Cause: janitor_poll() line 107: one refused request is sent again for each wake of the janitor,
 * but requests refused while it sleeps share one wake; the others are never sent again.
 * Repair: go on until the list of refused requests is empty (as with `patient`). */
#include <sim/rewake.h>

#define CLIENTS 3

struct client {
    struct rt_task task;
    struct queue *queue;
    struct rt_submit lookup;
    struct rt_sleep arrival;
    struct rt_slot again; /* Until the janitor lets it ask again. */
    uint64_t arrival_ns;
    uint32_t at;
    bool refused;
};

/* On shard 0: the clients, and those that the store has refused. */
struct queue {
    struct sim_shard_group *group;
    struct client clients[CLIENTS];
    struct client *refused[CLIENTS];
    uint32_t refused_count;
    uint32_t served;
    struct rt_task janitor;
    struct rt_slot work;
    struct rt_sleep pause;
    uint32_t at;
    bool patient;

    /* On shard 1: one lookup at a time. */
    struct rt_task disk;
    struct rt_sleep seek;
    struct rt_message *message;
    uint64_t seek_ns;
};

/* ---- Shard 1. -------------------------------------------------------------------------------- */

static rt_poll
disk_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_sleep_poll(&rt_container_of(task, struct queue, disk)->seek, cx);
}

static void
disk_cleanup(struct rt_task *task)
{
    struct queue *queue = rt_container_of(task, struct queue, disk);
    struct rt_message *message = queue->message;
    rt_sleep_cancel(&queue->seek);
    queue->message = NULL;
    rt_message_answer(message, sim_shard_group_shard(queue->group, 1),
            task->end == RT_TASK_DONE ? RT_OK : RT_E_CANCELLED);
}

static void
on_lookup(struct rt_message *message, struct rt_shard *shard)
{
    struct queue *queue = rt_container_of(message, struct client, lookup.message)->queue;
    if (queue->message != NULL) {
        rt_message_answer(message, shard, RT_E_BUSY);
        return;
    }
    queue->message = message;
    rt_sleep_init(&queue->seek, queue->seek_ns);
    rt_task_init(&queue->disk, disk_poll, disk_cleanup, "disk");
    sim_spawn_background(sim_shard_group_rt(queue->group, shard->number), &queue->disk);
}

/* ---- Shard 0. -------------------------------------------------------------------------------- */

static rt_poll
janitor_has_work(struct queue *queue, struct rt_cx *cx)
{
    if (queue->refused_count > 0) {
        return RT_READY;
    }
    rt_slot_replace(&queue->work, cx, "a refused request");
    return RT_PENDING;
}

static rt_poll
janitor_is_woken(struct queue *queue, struct rt_cx *cx)
{
    if (queue->refused_count > 0 && rt_slot_empty(&queue->work)) {
        return RT_READY;
    }
    rt_slot_replace(&queue->work, cx, "a refused request");
    return RT_PENDING;
}

static rt_poll
janitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct queue *queue = rt_container_of(task, struct queue, janitor);
    RT_BEGIN(queue->at);
    RT_AWAIT_HERE(queue->at, janitor_has_work(queue, cx));
    for (;;) {
        do {
            rt_sleep_init(&queue->pause, 300 * RT_US);
            RT_AWAIT_HERE(queue->at, rt_sleep_poll(&queue->pause, cx));
            struct client *client = queue->refused[--queue->refused_count];
            client->refused = false;
            rt_slot_wake(&client->again);
        } while (queue->patient && queue->refused_count > 0);
        rt_slot_replace(&queue->work, cx, "a refused request");
        RT_AWAIT_HERE(queue->at, janitor_is_woken(queue, cx));
    }
    RT_END(queue->at);
}

static void
janitor_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct queue, janitor)->pause);
}

static rt_poll
may_ask_again(struct client *client, struct rt_cx *cx)
{
    if (!client->refused) {
        return RT_READY;
    }
    rt_slot_replace(&client->again, cx, "the janitor");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    struct queue *queue = client->queue;
    RT_BEGIN(client->at);
    rt_sleep_init(&client->arrival, client->arrival_ns);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->arrival, cx));
    for (;;) {
        rt_submit_to(&client->lookup, sim_shard_group_shard(queue->group, 0), 1, on_lookup);
        RT_AWAIT_HERE(client->at, rt_future_poll(&client->lookup.future, cx));
        if (client->lookup.message.result != RT_E_BUSY) {
            break;
        }
        client->refused = true;
        queue->refused[queue->refused_count++] = client;
        rt_slot_wake(&queue->work);
        RT_AWAIT_HERE(client->at, may_ask_again(client, cx));
    }
    queue->served++;
    if (queue->served == CLIENTS) {
        rt_shards_close(sim_shard_group_shards(queue->group));
    }
    RT_END(client->at);
}

static void
client_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct client, task)->arrival);
}

static void
begin(struct sim_world *world, bool patient)
{
    static const char *const names[CLIENTS] = {"client a", "client b", "client c"};
    struct queue *queue = sim_new(world, struct queue);
    queue->group = sim_shard_group_new(world, NULL);
    queue->patient = patient;
    queue->seek_ns = sim_range(world, 200 * RT_US, 600 * RT_US);
    rt_slot_init(&queue->work);
    rt_task_init(&queue->janitor, janitor_poll, janitor_cleanup, "janitor");
    sim_spawn_background(sim_shard_group_rt(queue->group, 0), &queue->janitor);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &queue->clients[i];
        client->queue = queue;
        client->arrival_ns = sim_range(world, i * 500 * RT_US, 1500 * RT_US);
        rt_slot_init(&client->again);
        rt_task_init(&client->task, client_poll, client_cleanup, names[i]);
        sim_spawn_background(sim_shard_group_rt(queue->group, 0), &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(janitor_broken, .name = "s10/janitor/broken",
        .about = "A shard refuses requests, which are sent again later.", .setup = setup_broken);
SIM_SCENARIO(janitor_fixed, .name = "s10/janitor/fixed",
        .about = "A shard refuses requests, which are sent again later.", .setup = setup_fixed);
