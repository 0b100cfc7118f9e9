/*
 * attempt.c -- the loop of every operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/attempt.h"

#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

/* Whether the call has ended. Nothing follows a closed direction: a network that answers RT_E_AGAIN
 * for one would be called forever. */
static bool
over(struct rt__attempt *attempt, const struct rt_cx *cx, struct rt_seen seen)
{
    if (attempt->err == RT_E_AGAIN && (seen.bits & RT_READY_CLOSED) != 0) {
        attempt->err = RT_E_CLOSED;
    }
    if (attempt->err != RT_E_AGAIN) {
        if (attempt->emptied && (seen.bits & RT_READY_ERROR) == 0) {
            rt_io_clear(attempt->source, attempt->direction, seen);
        }
        return true;
    }
    rt_io_clear(attempt->source, attempt->direction, seen);
    rt_budget_restore(cx); /* Readiness that was none is no progress (D12). */
    return false;
}

rt_poll
rt__attempt_poll(struct rt__attempt *attempt, struct rt_io_wait *wait, struct rt_cx *cx)
{
    struct rt_seen seen;
    do {
        RT_AWAIT(rt_io_poll_ready_at(attempt->source, attempt->direction, wait, cx, attempt->reason,
                &seen, attempt->await));
        if ((seen.bits & RT_READY_SHUTDOWN) != 0) {
            /* Closed by a waker that ran while it was stored, or the end of all I/O (E10). */
            attempt->err = attempt->source->io == NULL ? RT_E_STALE : RT_E_SHUTDOWN;
            return RT_READY;
        }
        attempt->err = attempt->once(attempt);
    } while (!over(attempt, cx, seen));
    return RT_READY;
}

rt_poll
rt__attempt_refuse(
        struct rt_io_wait *wait, rt_err err, rt_err *ret_err, const struct rt_site *await)
{
    rt_assert(err != RT_OK);
    rt_io_wait_cancel_at(wait, await);
    *ret_err = err;
    return RT_READY;
}

rt_err
rt__adopt(struct rt_io *io, struct rt_io_source *source, int socket, uint32_t assumed)
{
    rt_err err = rt_io_register(io, source, socket, assumed);
    if (err != RT_OK) {
        io->net->ops->close(io->net, socket);
    }
    return err;
}
