/*
 * minimal.c -- the smallest program that is still the runtime: a lamp that blinks.
 *
 * One task, one executor, one timer; no host, no reactor. An interrupt counts ticks and may wake a
 * slot; the loop sleeps until it does. `make size` links it with nothing but libgcc and prints what
 * is in it. The hardware is two words of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "runtime/task/executor.h"
#include "runtime/time/timers.h"

#define TICKS_LIT 3u

/* What the hardware would be. */
static volatile uint32_t lamp;
static volatile uint32_t ticks;

static struct rt_list *wheel[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS)];
static struct rt_slab_entry entries[2];
static struct rt_sched_link links[2];
static struct rt_timers timers;
static struct rt_executor executor;

struct blinker {
    struct rt_task task;
    struct rt_timer timer;
};

static struct blinker blinker;

static rt_poll
blink(struct rt_task *task, struct rt_cx *cx)
{
    struct blinker *self = rt_container_of(task, struct blinker, task);
    lamp ^= 1;
    rt_slot_replace(&self->timer.slot, cx, "the next tick");
    rt_timer_start(&timers, &self->timer, ticks + TICKS_LIT);
    return RT_PENDING;
}

/* Freestanding C needs four functions; the compiler calls these two here. */
void *memset(void *to, int byte, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);

__attribute__((used)) void *
memset(void *to, int byte, size_t size)
{
    unsigned char *bytes = to;
    while (size-- > 0) {
        *bytes++ = (unsigned char)byte;
    }
    return to;
}

__attribute__((used)) void *
memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *bytes = to;
    const unsigned char *source = from;
    while (size-- > 0) {
        *bytes++ = *source++;
    }
    return to;
}

/* Where the machine begins. */
void start(void);

void
start(void)
{
    const struct rt_executor_config config = {.entries = entries, .capacity = 2, .links = links};
    const struct rt_timers_config clock = {.slots = wheel};
    rt_executor_init(&executor, &config);
    rt_timers_init(&timers, &clock);
    rt_timer_init(&blinker.timer);
    rt_task_init(&blinker.task, blink, NULL, NULL);
    if (rt_post(&executor, &blinker.task) != RT_OK) {
        return;
    }
    for (;;) {
        struct rt_run_result result;
        (void)rt_timers_process(&timers, ticks);
        if (rt_run_until_stalled(&executor, RT_COUNT_MAX, &result) != RT_OK) {
            return;
        }
    }
}
