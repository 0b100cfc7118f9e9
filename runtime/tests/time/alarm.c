/*
 * alarm.c -- timers for tests: each wake is written down, and may do something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/time/alarm.h"

#include <string.h>

#include "runtime/tests/test.h"

static struct alarm *
alarm_of(const struct rt_waker *waker)
{
    return (struct alarm *)waker->data;
}

static struct rt_waker
alarm_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    alarm_of(waker)->held += 1;
    return *waker;
}

static void
alarm_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    struct alarm *alarm = alarm_of(waker);
    size_t length = strlen(alarm->bench->log);
    if (length + 1 < sizeof(alarm->bench->log)) {
        alarm->bench->log[length] = alarm->name;
        alarm->bench->log[length + 1] = 0;
    }
    alarm->wakes += 1;
    if (alarm->then != NULL) {
        alarm->then(alarm);
    }
}

static void
alarm_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    if (alarm_of(&waker)->held == 0) {
        ck_abort_msg("a waker was given back that was not held");
    }
    alarm_of(&waker)->held -= 1;
}

static void
alarm_wake(struct rt_waker waker, const struct rt_site *await)
{
    alarm_drop(waker, await); /* First: the alarm may be gone after its wake. */
    alarm_wake_by_ref(&waker, await);
}

static const struct rt_waker_vt alarm_vt = {alarm_clone, alarm_wake, alarm_wake_by_ref, alarm_drop};

static rt_poll
never_polled(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_PENDING;
}

static void
report_earliest(void *argument, uint64_t deadline_ns)
{
    struct alarm_bench *bench = argument;
    bench->reports += 1;
    bench->reported_ns = deadline_ns;
}

void
alarm_bench_init(struct alarm_bench *bench, uint32_t levels, uint32_t bits, uint64_t tick_ns,
        uint64_t start_ns)
{
    *bench = (struct alarm_bench){.reported_ns = RT_NEVER};
    memset(bench->slots, 0xa5, sizeof(bench->slots));
    rt_executor_init(&bench->executor,
            &(struct rt_executor_config){
                    .entries = bench->entries, .links = bench->links, .capacity = 1});
    rt_task_init(&bench->task, never_polled, NULL, "bench");
    rt_timers_init(&bench->timers, &(struct rt_timers_config){
                                           .slots = bench->slots,
                                           .levels = levels,
                                           .bits = bits,
                                           .tick_ns = tick_ns,
                                           .start_ns = start_ns,
                                           .on_earliest = report_earliest,
                                           .argument = bench,
                                   });
    rt_timers_audit(&bench->timers);
}

void
alarm_init(struct alarm *alarm, struct alarm_bench *bench, char name)
{
    *alarm = (struct alarm){.bench = bench, .name = name};
    rt_timer_init(&alarm->timer);
}

void
alarm_start(struct alarm *alarm, uint64_t deadline_ns)
{
    struct alarm_bench *bench = alarm->bench;
    struct rt_cx cx;
    rt_cx_init(&cx, &bench->executor, &bench->task, (struct rt_waker){&alarm_vt, (uintptr_t)alarm});
    rt_slot_replace(&alarm->timer.slot, &cx, "alarm");
    rt_cx_poison(&cx);
    rt_timer_start(&bench->timers, &alarm->timer, deadline_ns);
    rt_timers_audit(&bench->timers);
}

bool
alarm_cancel(struct alarm *alarm)
{
    bool armed = rt_timer_cancel(&alarm->bench->timers, &alarm->timer);
    rt_timers_audit(&alarm->bench->timers);
    if (!rt_slot_empty(&alarm->timer.slot)) {
        ck_abort_msg("a cancelled timer still holds a waker");
    }
    return armed;
}

uint32_t
alarm_process(struct alarm_bench *bench, uint64_t now_ns)
{
    bench->log[0] = 0;
    uint32_t fired = rt_timers_process(&bench->timers, now_ns);
    rt_timers_audit(&bench->timers);
    return fired;
}

void
alarm_then_start_again(struct alarm *alarm)
{
    alarm_start(alarm, alarm->again_ns);
}

void
alarm_then_cancel_other(struct alarm *alarm)
{
    EXPECT(alarm_cancel(alarm->other));
}

void
alarm_then_scribble(struct alarm *alarm)
{
    memset(alarm, 0xdd, sizeof(*alarm));
}
