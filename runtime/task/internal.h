/*
 * internal.h -- shared by the files of this folder only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_INTERNAL_H
#define RT_TASK_INTERNAL_H

#include "runtime/base/assert.h"
#include "runtime/task/executor.h"

#define RT__TASK_MAGIC 0x5254534bu
#define RT__SLOT_MAGIC 0x52534c54u
#define RT__SLOT_FREED 0x52534c46u /* Left by a watcher where the memory of a slot was freed. */
#define RT__EXECUTOR_MAGIC 0x52455845u

/* Checked by everything that changes an executor or its tasks (W4, X1). */
static inline void
rt__check_here(const struct rt_executor *executor)
{
#ifdef RT_SMALL
    (void)executor; /* One processor, one thread. */
    return;
#endif
    if (__builtin_expect(executor->here != NULL, 0) && !executor->here(executor->here_argument)) {
        rt_fault(RT_E_FOREIGN, NULL, "a waker or a task was used on a thread that is not its own");
    }
}

/* target.c: fills the vtable of the wakers of the executor in which `vt` lies. */
void rt__target_vt(struct rt_waker_vt *vt);

/* target.c: the clone function of these wakers, which identifies them. */
struct rt_waker rt__local_clone(const struct rt_waker *waker, const struct rt_site *await);

/* Those below are in the path of every store and every wake, and therefore inline. */

/*
 * True when `waker` is one of an executor's own. Those need no reference in a
 * slot: they are a key, the slot's link is the registration, and the end of the
 * task empties the slot. Any other waker is cloned into the slot, and dropped.
 */
static inline bool
rt__waker_is_local(const struct rt_waker *waker)
{
    return waker->vt != NULL && waker->vt->clone == rt__local_clone;
}

/* The executor of a local waker. */
static inline struct rt_executor *
rt__waker_executor(const struct rt_waker *waker)
{
    /* Through an integer, because the vtable is const outside its executor. */
    uintptr_t address = (uintptr_t)waker->vt - offsetof(struct rt_executor, vt);
    struct rt_executor *executor = (struct rt_executor *)address;
    rt_check(executor, RT__EXECUTOR_MAGIC);
    rt__check_here(executor);
    return executor;
}

static inline struct rt_target *
rt__target_lookup(const struct rt_executor *executor, uintptr_t word)
{
    return rt_slab_get(&executor->targets, rt_key_unpack(word));
}

/* As rt_waker_target. */
static inline struct rt_target *
rt__waker_target(const struct rt_waker *waker)
{
    if (!rt__waker_is_local(waker)) {
        return NULL;
    }
    return rt__target_lookup(rt__waker_executor(waker), waker->data);
}

/* Whether the context's waker is that of its own task, and not a combinator's. */
static inline bool
rt__cx_is_own(const struct rt_cx *cx)
{
    const struct rt_target *target = &cx->task->target;
    return cx->waker.vt == &cx->executor->vt && cx->waker.data == rt_key_pack(target->key);
}

/* Wakes the result of a lookup: NULL is a target that is gone (T8). */
static inline void
rt__target_wake(struct rt_target *target, uintptr_t word, const struct rt_site *await)
{
    if (target == NULL) {
        RT_PROBE(WAKE_DEAD, 0, RT_HERE, await, word);
        return;
    }
    rt_assert(target->woken != NULL);
    target->woken(target, await);
}

/* slot.c: what rt__slot_detach took out, to be woken later by rt__slot_fire. */
struct rt__detached {
    struct rt_waker waker; /* Null: there was nothing. */
    uint32_t object;
    uint32_t whose;
};
struct rt__detached rt__slot_detach(struct rt_slot *slot);
void rt__slot_fire(struct rt__detached *detached, const struct rt_site *await);

/* Empties every slot of a task's list without a wake (T9). */
void rt__slots_erase(struct rt_list *slots, const struct rt_site *await);

/* task.c: the `woken` of a task's target, which identifies it. */
void rt__task_woken(struct rt_target *target, const struct rt_site *await);

/*
 * Takes a posted task away from its executor (T9): out of the policy, waiting for nothing, its
 * wakers dead. DONE and CANCELLED end it: the joiner is woken and cleanup called, after which the
 * memory may be reused. PARKED does neither.
 */
void rt__task_end(struct rt_task *task, enum rt_task_end end, const struct rt_site *await);

/* A task polled by hand has answered READY: joiner and cleanup, there is no executor to leave. */
void rt__task_end_child(struct rt_task *task);

/* executor.c: the rank of a task that was just posted, and a changed one; out of the policy. */
void rt__executor_admit(struct rt_executor *executor, const struct rt_task *task);
void rt__executor_rank(struct rt_executor *executor, const struct rt_task *task);
void rt__executor_remove(struct rt_executor *executor, const struct rt_task *task);

/* Into the policy. */
static inline void
rt__executor_push(struct rt_executor *executor, const struct rt_task *task)
{
    /* Never more than once each: the policy cannot overflow. */
    rt_assert(executor->woken < executor->posted);
    executor->woken++;
    executor->sched->ops->push(executor->sched, task->target.key.index);
}

/* Asks the host to run the executor (D7). */
static inline void
rt__executor_notify(struct rt_executor *executor)
{
    if (executor->running || executor->notified || executor->notify == NULL) {
        return;
    }
    executor->notified = true;
    executor->notify(executor->notify_argument);
}

#endif
