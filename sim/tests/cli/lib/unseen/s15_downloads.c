/* Cause: withdraw(), line 73: a client whose patience ends in the moment in which a slot was given to it only
 * leaves the queue, and the slot is nobody's from then on; repair: take it when `granted` is set already. */
#include <sim/rewake.h>

/* A download manager: one line, several clients, and some give up waiting. */

#define CLIENTS 4

struct manager {
    bool fixed;
    uint32_t free;
    struct client *first; /* The queue. */
};

struct client {
    struct rt_task task;
    struct manager *manager;
    struct client *next;
    struct rt_slot turn;
    struct rt_sleep patience;
    struct rt_sleep loading;
    uint64_t patience_ns;
    uint64_t loading_ns;
    uint32_t at;
    bool queued;
    bool granted;
};

static void
enqueue(struct client *client)
{
    struct client **link = &client->manager->first;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = client;
    client->next = NULL;
    client->queued = true;
}

static void
dequeue(struct client *client)
{
    struct client **link = &client->manager->first;
    while (*link != client) {
        link = &(*link)->next;
    }
    *link = client->next;
    client->queued = false;
}

static void
release(struct manager *manager)
{
    struct client *next = manager->first;
    if (next == NULL) {
        manager->free++;
        return;
    }
    dequeue(next);
    next->granted = true;
    (void)rt_slot_wake(&next->turn);
}

/* Its patience has ended. */
static void
withdraw(struct client *client)
{
    (void)rt_slot_clear(&client->turn);
    if (client->queued) {
        dequeue(client);
    } else if (!client->manager->fixed) {
        client->granted = false;
    }
}

static rt_poll
acquire(struct client *client, struct rt_cx *cx)
{
    if (rt_sleep_poll(&client->patience, cx) == RT_READY) {
        withdraw(client);
        return RT_READY;
    }
    if (client->granted) {
        rt_sleep_cancel(&client->patience);
        return RT_READY;
    }
    rt_slot_replace(&client->turn, cx, "a line");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    if (client->manager->free > 0) {
        client->manager->free--;
        client->granted = true;
    } else {
        enqueue(client);
        rt_sleep_init(&client->patience, client->patience_ns);
        RT_AWAIT_HERE(client->at, acquire(client, cx));
    }
    if (client->granted) {
        rt_sleep_init(&client->loading, client->loading_ns);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->loading, cx));
        release(client->manager);
    }
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS] = {"ada", "bea", "cleo", "dora"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct manager *manager = sim_new(world, struct manager);
    *manager = (struct manager){.fixed = fixed, .free = 1};
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->manager = manager;
        client->loading_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
        client->patience_ns = i % 2 == 0 ? RT_NEVER : sim_range(world, 1500 * RT_US, 4 * RT_MS);
        rt_slot_init(&client->turn);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_downloads_b, .name = "s15/downloads/broken",
        .about = "A line is given to a client that gives up.", .setup = broken);
SIM_SCENARIO(s15_downloads_f, .name = "s15/downloads/fixed",
        .about = "A client that is given a line in time takes it.", .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
