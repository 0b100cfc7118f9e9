/*
 * token_bucket.c -- a rate limiter: a bucket of tokens that time refills, and a line of clients.
 *
 * Clients take numbers. The one at the head of the line takes a token, or sleeps until the next one
 * is due; all others wait for their turn, each in its own slot. A client that has taken a token
 * moves the line on and wakes the next in it, so there is always one that holds the timer. The
 * bucket is refilled from the clock when it is used, so no task has to refill it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CLIENTS 4u
#define TAKES 3u
#define BURST 2u
#define PERIOD_NS (2 * RT_MS)

struct limiter {
    uint64_t refilled_ns;
    uint64_t tokens;
    uint64_t head;
    uint64_t tail;
    struct rt_slot turn[CLIENTS]; /* By number, modulo. */
};

struct client {
    struct rt_task task;
    struct limiter *limiter;
    struct rt_sleep sleep;
    bool queued;
    bool asleep;
    uint64_t number;
    uint32_t taken;
};

static void
limiter_refill(struct limiter *limiter, uint64_t now_ns)
{
    uint64_t periods = (now_ns - limiter->refilled_ns) / PERIOD_NS;
    limiter->refilled_ns += periods * PERIOD_NS;
    limiter->tokens += periods;
    limiter->tokens = limiter->tokens > BURST ? BURST : limiter->tokens;
}

static rt_poll
limiter_take(struct limiter *limiter, struct client *client, struct rt_cx *cx)
{
    if (!client->queued) {
        client->queued = true;
        client->number = limiter->tail++;
    }
    if (client->number != limiter->head) {
        rt_slot_replace(&limiter->turn[client->number % CLIENTS], cx, "its turn");
        return RT_PENDING;
    }
    limiter_refill(limiter, rt_cx_now(cx));
    while (limiter->tokens == 0) {
        if (!client->asleep) {
            rt_sleep_until(&client->sleep, limiter->refilled_ns + PERIOD_NS);
            client->asleep = true;
        }
        RT_AWAIT(rt_sleep_poll(&client->sleep, cx));
        client->asleep = false;
        limiter_refill(limiter, rt_cx_now(cx));
    }
    limiter->tokens--;
    limiter->head++;
    client->queued = false;
    rt_slot_wake(&limiter->turn[limiter->head % CLIENTS]);
    return RT_READY;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    while (client->taken < TAKES) {
        RT_AWAIT(limiter_take(client->limiter, client, cx));
        client->taken++;
    }
    return RT_READY;
}

static void
client_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct client, task)->sleep);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CLIENTS] = {"anna", "bert", "carl", "dora"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct limiter *limiter = sim_new(world, struct limiter);
    limiter->tokens = BURST;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        rt_slot_init(&limiter->turn[i]);
        client->limiter = limiter;
        rt_sleep_init(&client->sleep, 0);
        rt_task_init(&client->task, client_poll, client_cleanup, names[i]);
        sim_spawn(rt, &client->task);
    }
}

SIM_SCENARIO(correct_token_bucket, .name = "correct/token-bucket",
        .about = "A rate limiter whose head of the line holds the timer.", .setup = setup);
