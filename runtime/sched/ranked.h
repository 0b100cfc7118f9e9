/*
 * ranked.h -- two policies by a number: the highest priority, or the earliest deadline, first.
 *
 *      priority   rank: how important, greater is sooner; 0, the default, is last.
 *      edf        rank: a time, earlier is sooner; 0, no deadline, is after all that have one.
 *
 * Equal ranks are polled in the order of their wakes. The rank is the task's (rt_task.rank): set
 * before rt_post and copied then, also when the task is posted again, or changed with
 * rt_task_set_rank. A deadline is absolute, on any clock; one that is past is only the earliest.
 * A task with a deadline per job sets it with each job (embassy's Deadline).
 *
 * What they do not promise. Both starve: a task that is woken again and again shuts out all tasks
 * of lower priority, or of later deadline, for as long as it runs; the simulator reports that as
 * starvation. A task yields (yield.h) to those of equal or higher rank only. Neither has
 * inheritance: a task that waits for one of lower priority waits for all above that one. Edf meets
 * all deadlines that can be met as long as no poll is long and there is no overload (Liu and
 * Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment", JACM 20,
 * 1973); under overload it does not decide which is late. Timers and pollables are polled every
 * `event_interval` polls whatever the ranks are (D11).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SCHED_RANKED_H
#define RT_SCHED_RANKED_H

#include "runtime/sched/heap.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_sched_ranked {
    struct rt_sched sched;
    struct rt_sched_heap heap;
    uint64_t *keys; /* By number; smaller is sooner. */
};

/* Borrow `entries` and `keys`, one of each for every number below `capacity`; they need not be
 * initialised. */
void rt_sched_priority_init(struct rt_sched_ranked *ranked, struct rt_sched_heap_entry *entries,
        uint64_t *keys, uint32_t capacity);
void rt_sched_edf_init(struct rt_sched_ranked *ranked, struct rt_sched_heap_entry *entries,
        uint64_t *keys, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
