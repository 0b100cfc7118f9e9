/*
 * clockwork.c -- an executor and timers under a clock that tests move by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/time/clockwork.h"

#include "runtime/tests/test.h"

static uint64_t
clockwork_now(struct rt_host *host)
{
    return rt_container_of(host, struct clockwork, host)->now_ns;
}

static const struct rt_host_ops clockwork_ops = {.now = clockwork_now};

void
clockwork_init(struct clockwork *clockwork, uint64_t tick_ns)
{
    struct rt_runtime *runtime = &clockwork->runtime;
    *clockwork = (struct clockwork){.host = {.magic = RT_HOST_MAGIC, .ops = &clockwork_ops}};
    rt_executor_init(&runtime->executor, &(struct rt_executor_config){
                                                 .entries = clockwork->entries,
                                                 .links = clockwork->links,
                                                 .capacity = CLOCKWORK_ENTRIES,
                                         });
    rt_timers_init(&runtime->timers,
            &(struct rt_timers_config){.slots = clockwork->slots, .tick_ns = tick_ns});
    runtime->host = &clockwork->host;
    runtime->executor.runtime = runtime;
}

uint32_t
clockwork_run(struct clockwork *clockwork)
{
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&clockwork->runtime.executor, 1000, &result), RT_OK);
    EXPECT(result.stall != RT_STALL_LIMIT);
    rt_executor_audit(&clockwork->runtime.executor);
    rt_timers_audit(&clockwork->runtime.timers);
    return (uint32_t)result.polled;
}

uint32_t
clockwork_post(struct clockwork *clockwork, struct rt_task *task)
{
    EXPECT_EQ(rt_post(&clockwork->runtime.executor, task), RT_OK);
    return clockwork_run(clockwork);
}

uint32_t
clockwork_at(struct clockwork *clockwork, uint64_t now_ns)
{
    clockwork->now_ns = now_ns;
    (void)rt_timers_process(&clockwork->runtime.timers, now_ns);
    rt_timers_audit(&clockwork->runtime.timers);
    return clockwork_run(clockwork);
}
