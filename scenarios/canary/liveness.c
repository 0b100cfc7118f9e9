/*
 * liveness.c -- a canary: a circuit breaker that opens and is never closed.
 *
 * A client asks ten questions. A late answer opens its breaker, and while that is open answers do
 * not count. It is never closed. Without faults every answer is in time; after a late one the
 * client asks forever, and each question is answered, so no single step shows that it will not end.
 * Only a run that has become fault-free and still continues is wrong.
 *
 * Must end in: livelock, by `liveness`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define QUESTIONS 10u
#define ANSWER_NS (300 * RT_US)
#define LATE_NS (100 * RT_US)

struct client {
    struct rt_task task;
    struct sim_world *world;
    struct rt_sleep answer;
    uint64_t asked_ns;
    uint32_t answers;
    bool asked;
    bool open; /* The breaker. */
};

static void
client_take(struct client *client)
{
    uint64_t took_ns = sim_now(client->world) - client->asked_ns;
    client->asked = false;
    client->open = client->open || took_ns > ANSWER_NS + LATE_NS;
    if (!client->open) {
        client->answers++;
    }
    SIM_PROGRESS();
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    while (client->answers < QUESTIONS) {
        if (!client->asked) {
            client->asked = true;
            client->asked_ns = sim_now(client->world);
            rt_sleep_init(&client->answer, ANSWER_NS);
        }
        RT_AWAIT(rt_sleep_poll(&client->answer, cx));
        client_take(client);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct client *client = sim_new(world, struct client);
    client->world = world;
    rt_task_init(&client->task, client_poll, NULL, "client");
    sim_spawn(rt, &client->task);
}

SIM_SCENARIO(canary_liveness, .name = "canary/liveness",
        .about = "A client that got one late answer asks forever, and is answered.", .setup = setup,
        .expect = SIM_VERDICT_LIVELOCK, .fault_free_after = 500, .converge_steps = 5000);
