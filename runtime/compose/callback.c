/*
 * callback.c -- one future, then one call.
 *
 * The call is the task's cleanup: whatever the function does with the callback, the
 * runtime does not use it any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/callback.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static struct rt_callback *
callback_of(struct rt_task *task)
{
    return rt_container_of(task, struct rt_callback, task);
}

static rt_poll
callback_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct rt_callback *callback = callback_of(task);
    return callback->when != NULL ? rt_future_poll(callback->when, cx) : RT_READY;
}

static void
callback_cleanup(struct rt_task *task)
{
    struct rt_callback *callback = callback_of(task);
    struct rt_future *when = callback->when;
    callback->when = NULL;
    if (when != NULL) {
        rt_future_drop(when);
    }
    callback->fn(callback->argument, task->end == RT_TASK_DONE ? RT_OK : RT_E_CANCELLED);
}

void
rt_callback_init(struct rt_callback *callback, rt_callback_fn fn, void *argument, const char *name)
{
    rt_assert(callback != NULL);
    rt_assert(fn != NULL);
    *callback = (struct rt_callback){.fn = fn, .argument = argument};
    rt_task_init(
            &callback->task, callback_poll, callback_cleanup, name != NULL ? name : "callback");
}

rt_err
rt_callback_post_at(
        struct rt_executor *executor, struct rt_callback *callback, const struct rt_site *await)
{
    rt_assert(callback != NULL);
    return rt_post_at(executor, &callback->task, await);
}

rt_err
rt_callback_post_when_at(struct rt_executor *executor, struct rt_callback *callback,
        struct rt_future *future, const struct rt_site *await)
{
    rt_assert(future != NULL);
    rt_err err = rt_callback_post_at(executor, callback, await);
    if (err == RT_OK) {
        callback->when = future; /* In time: a post never polls (T2). */
    }
    return err;
}

rt_err
rt_callback_post_after_at(struct rt_executor *executor, struct rt_callback *callback,
        uint64_t delay_ns, const struct rt_site *await)
{
    rt_assert(callback != NULL);
    if (rt_task_posted(&callback->task)) {
        return RT_E_POSTED; /* Its sleep may be armed. */
    }
    rt_sleep_future_init_at(&callback->sleep, delay_ns, await);
    return rt_callback_post_when_at(executor, callback, &callback->sleep.future, await);
}

void
rt_callback_cancel_at(struct rt_callback *callback, const struct rt_site *await)
{
    rt_assert(callback != NULL);
    rt_task_cancel_at(&callback->task, await);
}
