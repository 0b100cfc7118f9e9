/*
 * reply.h -- the answer of a host function that is not there yet.
 *
 * Shared by an operation, the guest that asked for it and the driver of the
 * guest: the operation completes it, the continuation polls it, the driver
 * awaits it.
 *
 *      host function ─ rt_reply_begin ─┬─▶ continuation: is it complete?   (the guest's)
 *                                      └─▶ side channel: wake me           (the driver's)
 *      … later, the operation ─ rt_reply_complete: writes results, wakes the driver
 *
 * A call may be deleted meanwhile. The reply is then detached: its results cannot
 * be written any more, and its completion answers false (F11).
 * For that reason the memory belongs to the operation and not to the call.
 *
 * Ownership. Pinned from begin until it was completed and the guest has continued, or
 * was deleted. Then it may be begun again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_REPLY_H
#define RT_FIBER_REPLY_H

#include "runtime/fiber/guest.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_reply {
    struct rt_object object;
    struct rt_future future;   /* What the driver awaits. */
    struct rt_slot slot;       /* The driver's waker. */
    struct rt_host_call *host; /* The host call it answers; NULL: deleted. */
    bool complete;
    const char *what;
    const struct rt_site *await;
};

/* Makes one; `what` (borrowed) is the wait reason, for people: "the next record". */
void rt_reply_init(struct rt_reply *reply, const char *what);

/*
 * Called by a host function, before its operation is started: fills in the continuation and sets
 * the side channel of the store. An operation that completes at once withdraws that, and no task
 * waits (F9). A reply that is in use: fault RT_E_BUSY.
 */
#define rt_reply_begin(reply, host) rt_reply_begin_at((reply), (host), RT_HERE)
void rt_reply_begin_at(
        struct rt_reply *reply, struct rt_host_call *host, const struct rt_site *await);

/*
 * The operation is done: writes `count` words of `results` to where the guest wants them, and wakes
 * the driver. False: the call was deleted, nothing was written (F11). A second time: fault
 * RT_E_FINISHED.
 */
#define rt_reply_complete(reply, results, count) \
    rt_reply_complete_at((reply), (results), (count), RT_TRAP_NONE, RT_HERE)

/* It has failed: the guest is trapped with `trap` when it continues (F10). */
#define rt_reply_fail(reply, trap) rt_reply_complete_at((reply), 0, 0, (trap), RT_HERE)

bool rt_reply_complete_at(struct rt_reply *reply, const uint64_t *results, uint32_t count,
        enum rt_trap trap, const struct rt_site *await);

/* True while a guest waits for it: an operation may check, and stop early. */
static inline bool
rt_reply_wanted(const struct rt_reply *reply)
{
    return reply->host != 0;
}

#ifdef __cplusplus
}
#endif
#endif
