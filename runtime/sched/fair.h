/*
 * fair.h -- a policy by weights: each task gets its share of the polls, and none starves.
 *
 * Start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queueing: A Scheduling Algorithm
 * for Integrated Services Packet Switching Networks", SIGCOMM 1996), with one poll as the length of
 * every packet:
 *
 *      woken     start = max(virtual time, finish);  finish = start + RT_SCHED_QUANTUM / weight
 *      polled    the smallest start; virtual time = that start
 *
 * So among tasks that are always woken, one of weight 3 is polled three times as often as one of
 * weight 1. A task that slept begins at the virtual time: it has no credit, and a debt of at most
 * its last poll. A woken task waits for at most 1 + (w / v) polls of each other one, where w is the
 * other's weight and v its own. Whole numbers only.
 *
 * The rank (rt_task.rank) is the weight: 0, the default, counts as 1, and more than
 * RT_SCHED_QUANTUM as that. What is shared is polls, not time: a policy sees no clock, and a task
 * whose polls are long gets more time; the quota (yield.h) bounds what a poll may take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SCHED_FAIR_H
#define RT_SCHED_FAIR_H

#include "runtime/sched/heap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a poll adds to the finish of a task of weight 1; also the greatest weight. */
#define RT_SCHED_QUANTUM (UINT64_C(1) << 20)

struct rt_sched_share {
    uint64_t step;   /* RT_SCHED_QUANTUM divided by the weight. */
    uint64_t finish; /* Of its last poll, in virtual time. */
};

struct rt_sched_fair {
    struct rt_sched sched;
    struct rt_sched_heap heap;
    struct rt_sched_share *shares; /* By number. */
    uint64_t virtual_time;
};

/* Borrows `entries` and `shares`, one of each for every number below `capacity`; they need not be
 * initialised. */
void rt_sched_fair_init(struct rt_sched_fair *fair, struct rt_sched_heap_entry *entries,
        struct rt_sched_share *shares, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
