/*
 * callback.h -- a function that is called later: callback style on this executor.
 *
 *      rt_callback_init(&beat, beat_now, heart, "heartbeat");
 *      rt_callback_post_after(executor, &beat, 100 * RT_MS)
 *
 * A callback is a task that awaits at most one future and then calls one function. So code that is
 * written in callbacks runs beside code that is written in polls, in the same loop, and can be
 * converted piece by piece.
 *
 * The function is called when the task has ended: it may post the same callback again, or free it
 * (T10). It is called exactly once for each successful post, with RT_OK, or RT_E_CANCELLED where
 * the callback was cancelled before its time.
 *
 * Ownership. The caller's memory, pinned from the post to the call. The future is borrowed as long.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_CALLBACK_H
#define RT_COMPOSE_CALLBACK_H

#include "runtime/compose/future.h"
#include "runtime/task/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*rt_callback_fn)(void *argument, rt_err status);

struct rt_callback {
    struct rt_task task;
    rt_callback_fn fn;
    void *argument;
    struct rt_future *when; /* NULL: at once. */
    struct rt_sleep_future sleep;
};

/* Makes a callback that is not posted. `argument` is passed on; `name` is borrowed ("callback"
 * when NULL). */
void rt_callback_init(
        struct rt_callback *callback, rt_callback_fn fn, void *argument, const char *name);

/* Calls it in the next run, after the tasks woken already. Errors of rt_post; nothing has changed
 * then, and fn is not called. */
#define rt_callback_post(executor, callback) rt_callback_post_at((executor), (callback), RT_HERE)
RT_MUST_CHECK rt_err rt_callback_post_at(
        struct rt_executor *executor, struct rt_callback *callback, const struct rt_site *await);

/* Calls it after `delay_ns`, counted from its first poll; RT_NEVER: only when it is cancelled. For
 * an executor in a runtime (sleep.h). */
#define rt_callback_post_after(executor, callback, delay_ns) \
    rt_callback_post_after_at((executor), (callback), (delay_ns), RT_HERE)
RT_MUST_CHECK rt_err rt_callback_post_after_at(struct rt_executor *executor,
        struct rt_callback *callback, uint64_t delay_ns, const struct rt_site *await);

/* Calls it when `future` is ready; cancelled before that, the future is dropped. */
#define rt_callback_post_when(executor, callback, future) \
    rt_callback_post_when_at((executor), (callback), (future), RT_HERE)
RT_MUST_CHECK rt_err rt_callback_post_when_at(struct rt_executor *executor,
        struct rt_callback *callback, struct rt_future *future, const struct rt_site *await);

/* Calls it now, with RT_E_CANCELLED. Not posted: no-op. */
#define rt_callback_cancel(callback) rt_callback_cancel_at((callback), RT_HERE)
void rt_callback_cancel_at(struct rt_callback *callback, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
