/*
 * backoff.c -- a request that is tried again, with a longer and longer pause and some jitter.
 *
 * Each try has a time limit. A try that takes too long is dropped by it, and the next one is a new
 * future. The pause doubles, up to a bound, and a random part is added. The number of tries is
 * bounded as well, so the client ends in any case.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 2u
#define TRIES 5u
#define LIMIT_NS (3 * RT_MS)
#define PAUSE_NS RT_MS
#define PAUSE_MAX_NS (4 * RT_MS)

struct client {
    struct rt_task task;
    struct sim_world *world;
    struct rt_sleep_future answer; /* As long as the server takes. */
    struct rt_timeout limited;
    struct rt_sleep pause;
    uint64_t pause_ns;
    uint32_t tries;
    bool answered;
    uint32_t at;
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    client->pause_ns = PAUSE_NS;
    for (client->tries = 1;; client->tries++) {
        rt_sleep_future_init(&client->answer, sim_range(client->world, RT_MS, 6 * RT_MS));
        rt_timeout_init(&client->limited, &client->answer.future, LIMIT_NS);
        RT_AWAIT_HERE(client->at, rt_timeout_poll(&client->limited, cx));
        client->answered = !client->limited.expired;
        if (client->answered || client->tries == TRIES) {
            break;
        }
        rt_sleep_init(&client->pause, client->pause_ns + sim_range(client->world, 0, PAUSE_NS));
        client->pause_ns = client->pause_ns < PAUSE_MAX_NS ? 2 * client->pause_ns : PAUSE_MAX_NS;
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
    }
    SIM_ALWAYS(client->answered || client->tries == TRIES);
    RT_END(client->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"client 1", "client 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->world = world;
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

SIM_SCENARIO(correct_backoff, .name = "correct/backoff",
        .about = "Tries with a time limit, a growing pause and jitter.", .setup = setup);
