// SPDX-License-Identifier: Apache-2.0
/* Cause: alarm_set() line 52: the driver is woken only if there was no alarm before; it goes on sleeping
 * until the deadline that was the earliest when it last looked. Repair: wake it whenever the new alarm is
 * the earliest (as with `earlier`). */
#include <sim/rewake.h>

#define CLIENTS 3

struct client;

/* All alarms, and one task that sleeps until the earliest. */
struct queue {
    struct rt_task driver;
    struct rt_slot changed;
    struct rt_sleep nap;
    uint64_t nap_until;
    bool napping;
    struct client *alarms[CLIENTS];
    uint32_t count;
    bool earlier;
};

struct client {
    struct rt_task task;
    struct queue *queue;
    struct sim_world *world;
    struct rt_slot rung;
    struct rt_sleep arrival;
    uint64_t arrival_ns;
    uint64_t wait_ns;
    uint64_t due_ns;
    uint32_t at;
    bool over;
};

/* The index of the earliest; only where there is one. */
static uint32_t
earliest(const struct queue *queue)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < queue->count; i++) {
        if (queue->alarms[i]->due_ns < queue->alarms[first]->due_ns) {
            first = i;
        }
    }
    return first;
}

static void
alarm_set(struct queue *queue, struct client *client)
{
    queue->alarms[queue->count++] = client;
    bool wakes = queue->count == 1;
    if (queue->earlier) {
        wakes = queue->alarms[earliest(queue)] == client;
    }
    if (wakes) {
        rt_slot_wake(&queue->changed);
    }
}

static void
ring_due(struct queue *queue, uint64_t now_ns)
{
    while (queue->count > 0) {
        uint32_t first = earliest(queue);
        struct client *client = queue->alarms[first];
        if (client->due_ns > now_ns) {
            break;
        }
        queue->alarms[first] = queue->alarms[--queue->count];
        client->over = true;
        rt_slot_wake(&client->rung);
    }
}

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct queue *queue = rt_container_of(task, struct queue, driver);
    for (;;) {
        ring_due(queue, rt_cx_now(cx));
        rt_slot_replace(&queue->changed, cx, "an alarm");
        uint64_t until = queue->count > 0 ? queue->alarms[earliest(queue)]->due_ns : RT_NEVER;
        if (until != queue->nap_until || !queue->napping) {
            if (queue->napping) {
                rt_sleep_cancel(&queue->nap);
            }
            rt_sleep_until(&queue->nap, until);
            queue->nap_until = until;
            queue->napping = true;
        }
        if (until == RT_NEVER || rt_sleep_poll(&queue->nap, cx) != RT_READY) {
            return RT_PENDING;
        }
        queue->napping = false;
    }
}

static void
driver_cleanup(struct rt_task *task)
{
    struct queue *queue = rt_container_of(task, struct queue, driver);
    if (queue->napping) {
        rt_sleep_cancel(&queue->nap);
    }
}

static rt_poll
wait_for_ring(struct client *client, struct rt_cx *cx)
{
    if (client->over) {
        return RT_READY;
    }
    rt_slot_replace(&client->rung, cx, "the ring of its alarm");
    return RT_PENDING;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    rt_sleep_init(&client->arrival, client->arrival_ns);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->arrival, cx));
    client->due_ns = rt_cx_now(cx) + client->wait_ns;
    alarm_set(client->queue, client);
    RT_AWAIT_HERE(client->at, wait_for_ring(client, cx));
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool earlier)
{
    static const char *const names[CLIENTS] = {"tea", "eggs", "bread"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct queue *queue = sim_new(world, struct queue);
    queue->earlier = earlier;
    rt_slot_init(&queue->changed);
    rt_task_init(&queue->driver, driver_poll, driver_cleanup, "driver");
    sim_spawn_background(rt, &queue->driver);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->queue = queue;
        client->world = world;
        client->arrival_ns = sim_range(world, i * RT_MS, 3 * RT_MS);
        client->wait_ns = sim_range(world, 2 * RT_MS, 9 * RT_MS);
        rt_slot_init(&client->rung);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
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

SIM_SCENARIO(alarms_broken, .name = "s10/alarms/broken", .about = "Alarms by one sleeping task.",
        .setup = setup_broken);
SIM_SCENARIO(alarms_fixed, .name = "s10/alarms/fixed", .about = "Alarms by one sleeping task.",
        .setup = setup_fixed);
