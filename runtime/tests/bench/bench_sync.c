/*
 * bench_sync.c -- what an item costs that goes from one task to another.
 *
 * Production objects, one executor without a host. A sender and a receiver each loop over their
 * future; the channel has the row's capacity. With a capacity of one each item is a switch to
 * the other task and back; with more, switches are shared among the items of a ring.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <stdio.h>

#include "runtime/sync/channel.h"
#include "runtime/sync/semaphore.h"
#include "runtime/task/executor.h"
#include "runtime/tests/bench/stopwatch.h"

#define ITEMS 16000u
#define RING 64u

struct bench {
    struct rt_executor executor;
    struct rt_slab_entry entries[4];
    struct rt_sched_link links[4];
    uint32_t capacity;
    uint64_t ring[RING];
    struct rt_channel channel;
    struct rt_task sender;
    struct rt_task receiver;
    struct rt_send send;
    struct rt_recv recv;
    uint64_t out;
    uint64_t in;
    uint64_t sent;
    uint64_t received;
    struct rt_semaphore semaphore;
    struct rt_acquire acquire;
};

static rt_poll
sender_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct bench *bench = rt_container_of(task, struct bench, sender);
    while (bench->sent < ITEMS) {
        if (bench->out == bench->sent) {
            bench->out++;
            rt_send_init(&bench->send, &bench->channel, &bench->out);
        }
        RT_AWAIT(rt_send_poll(&bench->send, cx));
        bench->sent++;
    }
    return RT_READY;
}

static rt_poll
receiver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct bench *bench = rt_container_of(task, struct bench, receiver);
    while (bench->received < ITEMS) {
        RT_AWAIT(rt_recv_poll(&bench->recv, cx));
        bench->received++;
        rt_recv_init(&bench->recv, &bench->channel, &bench->in);
    }
    return RT_READY;
}

static void
prepare(struct bench *bench)
{
    bench->sent = bench->received = bench->out = bench->in = 0;
    rt_executor_init(&bench->executor,
            &(struct rt_executor_config){
                    .entries = bench->entries, .capacity = 4, .links = bench->links});
    rt_channel_init(&bench->channel, &(struct rt_channel_config){.ring = bench->ring,
                                             .item_size = sizeof(uint64_t),
                                             .capacity = bench->capacity});
    rt_task_init(&bench->sender, sender_poll, NULL, "sender");
    rt_task_init(&bench->receiver, receiver_poll, NULL, "receiver");
    rt_recv_init(&bench->recv, &bench->channel, &bench->in);
}

/* One item, sent and received. */
static double
channel_round(void *argument)
{
    struct bench *bench = argument;
    struct rt_run_result result;
    prepare(bench);
    double start_ns = stopwatch_now_ns();
    if (rt_post(&bench->executor, &bench->sender) != RT_OK ||
            rt_post(&bench->executor, &bench->receiver) != RT_OK ||
            rt_run_until_stalled(&bench->executor, UINT64_MAX, &result) != RT_OK) {
        return -1;
    }
    double took_ns = stopwatch_now_ns() - start_ns;
    return bench->received == ITEMS ? took_ns / ITEMS : -1;
}

/* A permit taken by a future at once, and given back. */
static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct bench *bench = rt_container_of(task, struct bench, sender);
    while (bench->sent < ITEMS) {
        rt_acquire_init(&bench->acquire, &bench->semaphore, 1);
        RT_AWAIT(rt_acquire_poll(&bench->acquire, cx));
        bench->sent += rt_semaphore_release(&bench->semaphore, 1) == RT_OK ? 1 : 0;
    }
    return RT_READY;
}

static double
semaphore_round(void *argument)
{
    struct bench *bench = argument;
    struct rt_run_result result;
    bench->capacity = 1;
    prepare(bench);
    rt_semaphore_init(&bench->semaphore, 1);
    rt_task_init(&bench->sender, taker_poll, NULL, "taker");
    double start_ns = stopwatch_now_ns();
    if (rt_post(&bench->executor, &bench->sender) != RT_OK ||
            rt_run_until_stalled(&bench->executor, UINT64_MAX, &result) != RT_OK) {
        return -1;
    }
    return (stopwatch_now_ns() - start_ns) / ITEMS;
}

static void
show(const char *what, uint32_t capacity, double (*round)(void *argument), double target)
{
    static struct bench bench;
    bench.capacity = capacity;
    stopwatch_say(what, stopwatch_measure(round, &bench), target);
}

int
main(void)
{
    stopwatch_head("between tasks: production objects, items of 8 bytes; ns each");
    show("channel of 64: send and receive", 64, channel_round, 40);
    show("channel of 8", 8, channel_round, 0);
    show("channel of 1: a switch for each item", 1, channel_round, 0);
    show("semaphore: acquire a free permit, release", 1, semaphore_round, 0);
    return 0;
}
