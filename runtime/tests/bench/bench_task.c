/*
 * bench_task.c -- what a task costs that does nothing, and one that wakes itself.
 *
 * Production objects, one executor without a host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <stdio.h>

#include "runtime/task/executor.h"
#include "runtime/tests/bench/stopwatch.h"

#define TIMES 16000u
#define BATCH 64u

struct bench {
    struct rt_executor executor;
    struct rt_slab_entry entries[BATCH];
    struct rt_sched_link links[BATCH];
    struct rt_task tasks[BATCH];
    uint64_t left;
};

static rt_poll
trivial_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

static rt_poll
yielder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct bench *bench = rt_container_of(task, struct bench, tasks);
    if (bench->left == 0) {
        return RT_READY;
    }
    bench->left--;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
prepare(struct bench *bench, rt_poll_fn poll)
{
    rt_executor_init(&bench->executor,
            &(struct rt_executor_config){
                    .entries = bench->entries, .capacity = BATCH, .links = bench->links});
    for (uint32_t i = 0; i < BATCH; i++) {
        rt_task_init(&bench->tasks[i], poll, NULL, "task");
    }
}

/* Post, poll, complete: `batch` tasks are posted, then all are run. */
static double
post_round(struct bench *bench, uint32_t batch)
{
    struct rt_run_result result;
    prepare(bench, trivial_poll);
    double start_ns = stopwatch_now_ns();
    for (uint32_t done = 0; done < TIMES; done += batch) {
        for (uint32_t i = 0; i < batch; i++) {
            if (rt_post(&bench->executor, &bench->tasks[i]) != RT_OK) {
                return -1;
            }
        }
        if (rt_run_until_stalled(&bench->executor, UINT64_MAX, &result) != RT_OK) {
            return -1;
        }
    }
    return (stopwatch_now_ns() - start_ns) / TIMES;
}

static double
one_round(void *argument)
{
    return post_round(argument, 1);
}

static double
batch_round(void *argument)
{
    return post_round(argument, BATCH);
}

/* From a task's wake of itself to its next poll. */
static double
self_wake_round(void *argument)
{
    struct bench *bench = argument;
    struct rt_run_result result;
    prepare(bench, yielder_poll);
    bench->left = TIMES;
    if (rt_post(&bench->executor, &bench->tasks[0]) != RT_OK) {
        return -1;
    }
    double start_ns = stopwatch_now_ns();
    if (rt_run_until_stalled(&bench->executor, UINT64_MAX, &result) != RT_OK) {
        return -1;
    }
    return (stopwatch_now_ns() - start_ns) / TIMES;
}

int
main(void)
{
    static struct bench bench;
    stopwatch_head("tasks: production objects, one executor without a host; ns");
    stopwatch_say("post, poll, complete, one at a time", stopwatch_measure(one_round, &bench), 30);
    stopwatch_say("post, poll, complete, 64 at a time", stopwatch_measure(batch_round, &bench), 30);
    stopwatch_say("self wake to next poll", stopwatch_measure(self_wake_round, &bench), 12);
    return 0;
}
