/*
 * op.h -- one operation on a completion host, as a task sees it.
 *
 *                 rt_op_start                 rt_op_poll
 *      IDLE ──────────────────▶ SUBMITTED ◀─────────────▶ WAITING ──── rt_op_drop ───▶ IGNORED
 *       ▲  └──▶ QUEUED ──────────▲ │        wake, task ends  │                         (place only)
 *       │      (no place)          │ final completion        │ final completion             │
 *       │                          ▼                         ▼                              ▼
 *       └──── rt_op_poll ────── COMPLETED ◀──────────────────┘                           release
 *
 * Buffers (U1). From rt_op_start on the buffer is the ring's. It is returned in one of
 * two ways: rt_op_poll answers READY without `more`, or, when the handle was dropped,
 * `release` is called without `more` (U2). A task that may be cancelled therefore keeps
 * the buffer of an operation in memory that outlives it.
 *
 * A cancel (U3) is a request; the operation still ends with its own final completion:
 * RT_E_CANCELLED, or what it had done already. Closing the target cancels nothing (U6).
 *
 * Ownership. The handle is the caller's, pinned while it is not IDLE. It may be freed after
 * rt_op_drop, or when it is IDLE.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_OP_H
#define RT_IO_OP_H

#include "runtime/io/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rt_op_state {
    RT_OP_IDLE,
    RT_OP_QUEUED,    /* Queued for a place. */
    RT_OP_SUBMITTED, /* No task waits for it now. */
    RT_OP_WAITING,   /* A waker is stored. */
    RT_OP_COMPLETED, /* A result is there, not yet taken. */
    RT_OP_IGNORED    /* Of a place whose handle was dropped; never the state of a handle. */
};

/* The request; copied. The ring fills `user_data` and `cancels`. */
struct rt_op_request {
    struct rt_submission submission;
    rt_op_release_fn release; /* NULL: nothing is to be done for completions that are not taken. */
    void *argument;
};

struct rt_op {
    struct rt_object object;
    struct rt_ring *ring; /* NULL: IDLE. */
    struct rt_key key;    /* Of its place; {0, 0} while QUEUED. */
    struct rt_list link;  /* In ring->queued while QUEUED. */
    bool ended;           /* Cancelled before the host saw it; there is no place. */
    struct rt_op_request request;
    struct rt_slot slot; /* The waiting task's waker. */
};

struct rt_op_result {
    int32_t result; /* As in struct rt_completion. */
    bool more;      /* Poll again: the operation continues (U5). */
};

/* Makes an IDLE operation. */
void rt_op_init(struct rt_op *op);

/*
 * Hands `request` to the ring, which takes its buffer (U1). Never refused for lack of a place: it
 * is queued (U7). The host does not see it before a task polls, or the ring turns. An
 * operation that is not IDLE: fault RT_E_BUSY. CANCEL has its own call: RT_E_INVALID.
 */
#define rt_op_start(op, ring, request) rt_op_start_at((op), (ring), (request), RT_HERE)
void rt_op_start_at(struct rt_op *op, struct rt_ring *ring, const struct rt_op_request *request,
        const struct rt_site *await);

/*
 * READY with the next result. Without `more` it was the last: the operation is IDLE, its buffer
 * the caller's again. With it, poll again before sleeping. PENDING: the waker of `cx` is stored,
 * the previous one dropped (W11). IDLE: fault RT_E_FINISHED.
 */
#define rt_op_poll(op, cx, ret_result) rt_op_poll_at((op), (cx), (ret_result), RT_HERE)
rt_poll rt_op_poll_at(struct rt_op *op, struct rt_cx *cx, struct rt_op_result *ret_result,
        const struct rt_site *await);

/*
 * Asks the host to end it early; keep polling for the result (U3). One that the host has not seen
 * ends at once with RT_E_CANCELLED. IDLE, finished, or asked before and not answered: no-op.
 */
#define rt_op_cancel(op) rt_op_cancel_at((op), RT_HERE)
void rt_op_cancel_at(struct rt_op *op, const struct rt_site *await);

/*
 * Drops it: the handle is IDLE, each completion that was not taken goes to `release`, now or
 * when it comes, and the buffer stays with the host until then (U2). One that the host has not seen
 * is released at once with RT_E_CANCELLED. One with `multi` is cancelled, for it might never end;
 * others only if the caller does so first. IDLE: no-op.
 */
#define rt_op_drop(op) rt_op_drop_at((op), RT_HERE)
void rt_op_drop_at(struct rt_op *op, const struct rt_site *await);

enum rt_op_state rt_op_state(const struct rt_op *op);

/*
 * Readiness over completions (U9): READY once `target` has some of `interest` (RT_READABLE,
 * RT_WRITABLE), *ret_ready which, or an rt_err. One poll operation a waiter, started again at the
 * first poll after each READY. `op` is used for this alone until READY, or rt_op_drop.
 */
#define rt_op_ready(op, ring, target, interest, cx, ret_ready) \
    rt_op_ready_at((op), (ring), (target), (interest), (cx), (ret_ready), RT_HERE)
rt_poll rt_op_ready_at(struct rt_op *op, struct rt_ring *ring, int32_t target, uint32_t interest,
        struct rt_cx *cx, int32_t *ret_ready, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
