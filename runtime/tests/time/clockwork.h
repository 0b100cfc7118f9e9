/*
 * clockwork.h -- an executor and timers under a clock that tests move by hand.
 *
 * No reactor and no pollables: its host has a clock and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_TIME_CLOCKWORK_H
#define RT_TESTS_TIME_CLOCKWORK_H

#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CLOCKWORK_ENTRIES 16u

struct clockwork {
    struct rt_runtime runtime;
    struct rt_host host;
    uint64_t now_ns;
    struct rt_slab_entry entries[CLOCKWORK_ENTRIES];
    struct rt_sched_link links[CLOCKWORK_ENTRIES];
    struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS)];
};

void clockwork_init(struct clockwork *clockwork, uint64_t tick_ns);

/* Posts `task` and polls woken tasks; audits. Returns the polls. */
uint32_t clockwork_post(struct clockwork *clockwork, struct rt_task *task);

/* Polls woken tasks; audits. Returns the polls. */
uint32_t clockwork_run(struct clockwork *clockwork);

/* Sets the clock, fires what is due, polls woken tasks; audits. Returns the polls. */
uint32_t clockwork_at(struct clockwork *clockwork, uint64_t now_ns);

#ifdef __cplusplus
}
#endif
#endif
