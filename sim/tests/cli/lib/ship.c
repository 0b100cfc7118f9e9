/*
 * ship.c -- a program that ships the runtime: no simulator, no probes; with FIBERS a guest as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <runtime/runtime.h>
#include <runtime/sync/channel.h>
#ifdef FIBERS
#include <runtime/fiber/call.h>
#include <runtime/host/stack_mmap.h>
#endif

#include <stdio.h>

#define TASKS 4u

struct program {
    struct rt_channel channel;
    struct rt_task taker;
    struct rt_recv recv;
    uint64_t item;
    struct rt_task maker;
    uint64_t made;
#ifdef FIBERS
    struct rt_engine engine;
    struct rt_stack_provider stacks;
    struct rt_store store;
    struct rt_call call;
#endif
};

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, taker);
    return rt_recv_poll(&program->recv, cx);
}

#ifdef FIBERS
static void
guest(struct rt_guest *self, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    for (uint64_t i = 1; i <= 10 && rt_guest_check(self, 1); i++) {
        results[0] += i;
    }
}

static void
make_begin(struct program *program)
{
    rt_stack_mmap_init(&program->stacks);
    struct rt_engine_config engine = {.stacks = &program->stacks};
    struct rt_call_config call = {.guest = guest, .results = &program->made, .result_count = 1};
    rt_engine_init(&program->engine, &engine);
    rt_store_init(&program->store, &program->engine, program);
    if (rt_call_init(&program->call, &program->store, &call) != RT_OK) {
        printf("no stack\n");
    }
}

static rt_poll
make(struct program *program, struct rt_cx *cx)
{
    RT_AWAIT(rt_call_drive(&program->call, cx));
    rt_call_delete(&program->call);
    rt_store_fini(&program->store);
    rt_engine_fini(&program->engine);
    return RT_READY;
}
#else
static void
make_begin(struct program *program)
{
    program->made = 55;
}

static rt_poll
make(struct program *program, struct rt_cx *cx)
{
    (void)program;
    (void)cx;
    return RT_READY;
}
#endif

static rt_poll
maker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, maker);
    RT_AWAIT(make(program, cx));
    return rt_channel_try_send(&program->channel, &program->made) == RT_OK ? RT_READY : RT_PENDING;
}

int
main(void)
{
    static struct program program;
    struct rt_executor executor;
    struct rt_slab_entry entries[TASKS];
    struct rt_sched_link links[TASKS];
    uint64_t ring[1];
    struct rt_executor_config config = {.entries = entries, .links = links, .capacity = TASKS};
    struct rt_channel_config channel = {.ring = ring, .item_size = sizeof(ring[0]), .capacity = 1};
    struct rt_run_result result;
    rt_executor_init(&executor, &config);
    rt_channel_init(&program.channel, &channel);
    rt_recv_init(&program.recv, &program.channel, &program.item);
    make_begin(&program);
    rt_task_init(&program.taker, taker_poll, NULL, "taker");
    rt_task_init(&program.maker, maker_poll, NULL, "maker");
    if (rt_post(&executor, &program.taker) != RT_OK ||
            rt_post(&executor, &program.maker) != RT_OK ||
            rt_run_until_stalled(&executor, RT_COUNT_MAX, &result) != RT_OK) {
        return 1;
    }
    rt_channel_drop_handle(&program.channel);
    rt_channel_fini(&program.channel);
    rt_executor_fini(&executor);
    printf("%u\n", (unsigned)program.item);
    return 0;
}
