/*
 * await.h -- waiting inside a poll function: return now, continue later.
 *
 * A poll function that waits for something polls it and, as long as that is pending, returns its
 * answer. The next poll starts at the first line, so it must find the place where it left. Either
 * it keeps its state in fields and polls again in order,
 *
 *      static rt_poll
 *      proxy_poll(struct rt_task *task, struct rt_cx *cx)
 *      {
 *          struct proxy *proxy = rt_container_of(task, struct proxy, task);
 *          rt_err err;
 *          RT_AWAIT_INTO(err, proxy_receive(proxy), rt_wait_for(&proxy->wait, &proxy->in, cx));
 *          ...
 *
 * or these macros build a `switch` for it: a coroutine without a stack.
 *
 *      static rt_poll
 *      wander_poll(struct rt_activity *activity, struct rt_cx *cx)
 *      {
 *          struct wander *wander = rt_container_of(activity, struct wander, activity);
 *          RT_BEGIN(wander->at);
 *          for (wander->leg = 0; wander->leg < 3; wander->leg++) {
 *              go_to_init(&wander->go_to, choose_destination(wander));
 *              RT_AWAIT_HERE(wander->at, go_to_poll(&wander->go_to, cx));
 *              rt_tick_wait_init(&wander->loiter, 5);
 *              RT_AWAIT_HERE(wander->at, rt_tick_wait_poll(&wander->loiter, ..., cx));
 *          }
 *          RT_END(wander->at);
 *      }
 *
 * Rules of a coroutine. `at` is a uint32_t, 0 before the first poll. Locals are lost at each await:
 * what must last is a field, and the compiler refuses a local with an initialiser that an await
 * would jump over. No await inside the user's own `switch`, and no two on one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_AWAIT_H
#define RT_TASK_AWAIT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/assert.h"

/*
 * Leaves the calling poll function with the answer of `expression`, unless that is RT_READY: what
 * is pending below is pending above, and what parks below parks the task.
 */
#define RT_AWAIT(expression) \
    do { \
        const rt_poll rt__answer = (expression); \
        if (rt__answer != RT_READY) { \
            return rt__answer; \
        } \
    } while (0)

/*
 * Sets `result`, an rt_err, to the first answer of `attempt` that is not RT_E_AGAIN, and awaits
 * `wait` after each RT_E_AGAIN. Both are evaluated again after each poll.
 */
#define RT_AWAIT_INTO(result, attempt, wait) \
    do { \
        (result) = (attempt); \
        if ((result) == RT_E_AGAIN) { \
            RT_AWAIT(wait); \
        } \
    } while ((result) == RT_E_AGAIN)

/* Awaits `expression`, which sets `error`; an error that is not RT_OK then runs `otherwise`, a
 * statement that leaves: `return rt_sub_fail(sub, error)`. */
#define RT_AWAIT_OR(error, expression, otherwise) \
    do { \
        RT_AWAIT(expression); \
        if ((error) != RT_OK) { \
            otherwise; \
        } \
    } while (0)

/* `at` of a coroutine that has ended. Polled then: fault RT_E_FINISHED (T20). */
#define RT_AT_END UINT32_MAX

/* Opens the body of a coroutine: the first poll begins after it. */
#define RT_BEGIN(at) \
    switch (at) { \
    default: \
        rt_fault(RT_E_FINISHED, NULL, "a coroutine was polled that has ended"); \
    case 0:

/* As RT_AWAIT; the next poll continues here. */
#define RT_AWAIT_HERE(at, expression) \
    do { \
        (at) = __LINE__; \
        __attribute__((fallthrough)); \
    case __LINE__: \
        RT_AWAIT(expression); \
    } while (0)

/* Yields once: pending now (the caller has arranged its wake), on from here at the next poll. */
#define RT_YIELD_HERE(at) \
    do { \
        (at) = __LINE__; \
        return RT_PENDING; \
    case __LINE__:; \
    } while (0)

/* Closes the body: the coroutine is ready, and over. */
#define RT_END(at) \
    } \
    (at) = RT_AT_END; \
    return RT_READY

#endif
