/*
 * cx.h -- what a poll function gets from the runtime, for the length of one poll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_CX_H
#define RT_TASK_CX_H

#include "runtime/base/assert.h"
#include "runtime/task/task.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_runtime;

/*
 * Valid only during the poll that it was given to. The executor overwrites it afterwards; every
 * call that takes one checks it, and the use of a stale one is fault RT_E_STALE_CONTEXT (C1).
 */
struct rt_cx {
    uint32_t magic;
    struct rt_executor *executor;
    struct rt_runtime *runtime; /* NULL for a bare executor: no timers, no reactor. */
    struct rt_task *task;       /* The task whose poll this is, however deep the call. */
    struct rt_waker waker; /* Borrowed. The task's own, or a combinator's for its child (C3). */
};

#define RT_CX_MAGIC 0x52504358u

/*
 * Makes a context for one poll of `task`, with `waker` as the current one (borrowed) and a full
 * budget. The executor does this for its polls; a caller that polls a task by hand does so too,
 * and poisons it afterwards.
 */
void rt_cx_init(struct rt_cx *cx, struct rt_executor *executor, struct rt_task *task,
        struct rt_waker waker);

/* Checks that `cx` is alive; fault RT_E_STALE_CONTEXT when it is not. */
static inline void
rt_cx_check(const struct rt_cx *cx)
{
    rt_assert(cx != 0);
    if (__builtin_expect(cx->magic != RT_CX_MAGIC, 0)) {
        rt_fault(RT_E_STALE_CONTEXT, 0, "a poll context was kept and used after its poll");
    }
}

/* The waker to clone or store; borrowed, for this poll. */
const struct rt_waker *rt_cx_waker(const struct rt_cx *cx);

/* "Poll me again": wakes the current waker. The task goes to the tail of the queue (C2). */
#define rt_cx_reenqueue(cx) rt_cx_reenqueue_at((cx), RT_HERE)
void rt_cx_reenqueue_at(struct rt_cx *cx, const struct rt_site *await);

/* Answers RT_PARKED, to be returned: `return rt_cx_park(cx);` (T13). */
rt_poll rt_cx_park(struct rt_cx *cx);

/* Declares an endless wait, so that PENDING is no fault (T12). `reason` is for people. */
#define rt_wait_never(cx, slot, reason) rt_wait_never_at((cx), (slot), (reason), RT_HERE)
void rt_wait_never_at(
        struct rt_cx *cx, struct rt_slot *slot, const char *reason, const struct rt_site *await);

/*
 * One of `n` (at least 1) equally correct choices: a number below it, by the executor's `choose`; 0
 * without one. For primitives that promise no order where they could take any.
 */
uint32_t rt_cx_choose(const struct rt_cx *cx, uint32_t n);

/* The host's clock, ns; 0 for a bare executor. */
uint64_t rt_cx_now(const struct rt_cx *cx);

/*
 * The same poll seen by a child with a separate waker: everything but the waker is copied. The
 * caller poisons the copy when the child's poll has returned.
 */
struct rt_cx rt_cx_for_child(const struct rt_cx *cx, struct rt_waker waker);

/* Overwrites `cx`, so that later uses of it are found. */
void rt_cx_poison(struct rt_cx *cx);

#ifdef __cplusplus
}
#endif
#endif
