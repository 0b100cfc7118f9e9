/*
 * target.c -- the executor's own wakers: a key that is looked up at each use.
 *
 * The vtable of these wakers is a member of the executor, so its address leads
 * back to the executor and two executors never share one; the data word is
 * the key. Nothing here follows a pointer to a target that may be gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/target.h"

#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

/* One reference less, of the target and of the executor's balance. */
static void
give_back(struct rt_executor *executor, struct rt_target *target)
{
    bool cloned = executor->counters.returned != executor->counters.clones;
    if (!cloned || (target != NULL && target->clones == 0)) {
        rt_fault(RT_E_INVALID, NULL, "a waker was woken or dropped that had not been cloned (W1)");
    }
    executor->counters.returned++;
    if (target != NULL) {
        target->clones--;
    }
}

struct rt_waker
rt__local_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    struct rt_executor *executor = rt__waker_executor(waker);
    struct rt_target *target = rt__target_lookup(executor, waker->data);
    executor->counters.clones++;
    if (target != NULL) {
        target->clones++;
    }
    RT_PROBE(CLONE, target != NULL ? target->name : 0, RT_HERE, await,
            target != NULL ? target->name : 0);
    return *waker;
}

static void
local_wake(struct rt_waker waker, const struct rt_site *await)
{
    struct rt_executor *executor = rt__waker_executor(&waker);
    struct rt_target *target = rt__target_lookup(executor, waker.data);
    give_back(executor, target);
    rt__target_wake(target, waker.data, await);
}

static void
local_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    struct rt_executor *executor = rt__waker_executor(waker);
    rt__target_wake(rt__target_lookup(executor, waker->data), waker->data, await);
}

static void
local_drop(struct rt_waker waker, const struct rt_site *await)
{
    struct rt_executor *executor = rt__waker_executor(&waker);
    struct rt_target *target = rt__target_lookup(executor, waker.data);
    give_back(executor, target);
    RT_PROBE(DROP, target != NULL ? target->name : 0, RT_HERE, await,
            target != NULL ? target->name : 0);
}

void
rt__target_vt(struct rt_waker_vt *vt)
{
    rt_assert(vt != NULL);
    *vt = (struct rt_waker_vt){rt__local_clone, local_wake, local_wake_by_ref, local_drop};
}

rt_err
rt_target_open(struct rt_target *target, struct rt_executor *executor,
        void (*woken)(struct rt_target *target, const struct rt_site *await))
{
    rt_assert(target != NULL);
    rt_check(executor, RT__EXECUTOR_MAGIC);
    rt_assert(woken != NULL);
    rt_assert(target->key.generation == 0);
    struct rt_key key;
    rt_err err = rt_slab_insert(&executor->targets, target, &key);
    if (err != RT_OK) {
        return err;
    }
    rt_assert(key.generation != 0);
    target->key = key;
    target->clones = 0;
    target->executor = executor;
    target->woken = woken;
    return RT_OK;
}

void
rt_target_close(struct rt_target *target)
{
    rt_assert(target != NULL);
    if (target->key.generation == 0) {
        return;
    }
    rt_check(target->executor, RT__EXECUTOR_MAGIC);
    void *gone = rt_slab_remove(&target->executor->targets, target->key);
    rt_assert(gone == target);
    target->key = (struct rt_key){0, 0};
    target->clones = 0;
}

struct rt_waker
rt_target_waker(const struct rt_target *target)
{
    rt_assert(target != NULL);
    rt_assert(target->key.generation != 0);
    return (struct rt_waker){&target->executor->vt, rt_key_pack(target->key)};
}

struct rt_target *
rt_waker_target(const struct rt_waker *waker)
{
    rt_assert(waker != NULL);
    return rt__waker_target(waker);
}
