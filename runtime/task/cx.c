/*
 * cx.c -- the poll context: checked at every use, overwritten after the poll.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/cx.h"

#include "runtime/runtime.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

#define CX_POISON 0xdeadc0deu

void
rt_cx_init(
        struct rt_cx *cx, struct rt_executor *executor, struct rt_task *task, struct rt_waker waker)
{
    rt_assert(cx != NULL);
    rt_check(executor, RT__EXECUTOR_MAGIC);
    rt_check(&task->object, RT__TASK_MAGIC);
    cx->magic = RT_CX_MAGIC;
    cx->executor = executor;
    cx->runtime = executor->runtime;
    cx->task = task;
    cx->waker = waker;
    executor->budget_left = executor->budget;
}

const struct rt_waker *
rt_cx_waker(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    return &cx->waker;
}

void
rt_cx_reenqueue_at(struct rt_cx *cx, const struct rt_site *await)
{
    rt_cx_check(cx);
    if (__builtin_expect(rt__cx_is_own(cx), 1)) {
        /* What vtable and slab would find, without the lookup: every yield takes this path. */
        rt__task_woken(&cx->task->target, await);
    } else {
        rt_waker_wake_by_ref_at(&cx->waker, await);
    }
}

rt_poll
rt_cx_park(struct rt_cx *cx)
{
    rt_cx_check(cx);
    return RT_PARKED;
}

void
rt_wait_never_at(
        struct rt_cx *cx, struct rt_slot *slot, const char *reason, const struct rt_site *await)
{
    rt_cx_check(cx);
    rt_slot_replace_at(slot, cx, reason, RT_HERE, await);
}

uint32_t
rt_cx_choose(const struct rt_cx *cx, uint32_t n)
{
    rt_cx_check(cx);
    return rt_executor_choose(cx->executor, n);
}

uint64_t
rt_cx_now(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    return cx->runtime != NULL ? rt_host_now(cx->runtime->host) : 0;
}

struct rt_cx
rt_cx_for_child(const struct rt_cx *cx, struct rt_waker waker)
{
    rt_cx_check(cx);
    rt_assert(!rt_waker_is_null(&waker));
    struct rt_cx child = *cx;
    child.waker = waker;
    return child;
}

void
rt_cx_poison(struct rt_cx *cx)
{
    cx->magic = CX_POISON;
    cx->executor = NULL;
    cx->runtime = NULL;
    cx->task = NULL;
    cx->waker = RT_WAKER_NULL;
}
