/*
 * op.c -- handles: starting, polling, cancelling, dropping.
 *
 * A handle that has left the ring is IDLE before any task is woken, so a woken
 * task may start it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/op.h"

#include <stddef.h>

#include "runtime/io/ring_internal.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

#define OP_MAGIC 0x52544f50u

static void
check_op(const struct rt_op *op)
{
    rt_assert(op != NULL);
    if (op->object.magic != OP_MAGIC) {
        rt_fault(RT_E_INVALID, NULL, "an operation was used that rt_op_init never made");
    }
}

void
rt_op_init(struct rt_op *op)
{
    rt_assert(op != NULL);
    *op = (struct rt_op){.object = {OP_MAGIC, RT_PROBE_OBJECT(OPERATION)}};
    rt_list_init(&op->link);
    rt_slot_init(&op->slot);
    op->slot.owner = op->object.id;
}

/* Queued for a place. */
static bool
queued(const struct rt_op *op)
{
    return !rt_list_empty(&op->link);
}

/* Its place; NULL where it has none (IDLE, QUEUED, ended without the host). */
static struct rt_ring_place *
place_of(const struct rt_op *op)
{
    return op->ring == NULL || queued(op) || op->ended ? NULL : rt__ring_place(op);
}

static void
make_idle(struct rt_op *op)
{
    op->ring = NULL;
    op->ended = false;
    op->key = (struct rt_key){0, 0};
}

/* Takes it out of the ring if the host has never seen it. */
static bool
withdraw(struct rt_op *op)
{
    if (queued(op)) {
        rt_list_unlink(&op->link);
        return true;
    }
    struct rt_ring_place *place = place_of(op);
    if (place == NULL || place->sent) {
        return false;
    }
    rt__ring_withdraw(op->ring, place);
    return true;
}

enum rt_op_state
rt_op_state(const struct rt_op *op)
{
    check_op(op);
    if (op->ring == NULL) {
        return RT_OP_IDLE;
    }
    const struct rt_ring_place *place = place_of(op);
    if (op->ended || (place != NULL && (place->finished || !rt_list_empty(&place->results)))) {
        return RT_OP_COMPLETED;
    }
    if (queued(op)) {
        return RT_OP_QUEUED;
    }
    return rt_slot_empty(&op->slot) ? RT_OP_SUBMITTED : RT_OP_WAITING;
}

void
rt_op_start_at(struct rt_op *op, struct rt_ring *ring, const struct rt_op_request *request,
        const struct rt_site *await)
{
    check_op(op);
    rt__ring_check(ring);
    (void)await;
    if (op->ring != NULL) {
        rt_fault(RT_E_BUSY, NULL, "an operation was started that is under way");
    }
    if (request->submission.opcode == RT_OPCODE_CANCEL) {
        rt_fault(RT_E_INVALID, NULL, "a cancel is asked for with rt_op_cancel");
    }
    op->request = *request;
    op->ring = ring;
    rt__ring_admit(ring, op);
    rt__ring_verify(ring);
}

static bool
take(struct rt_op *op, struct rt_op_result *ret_result)
{
    if (op->ended) {
        *ret_result = (struct rt_op_result){RT_E_CANCELLED, false};
        return true;
    }
    struct rt_ring_place *place = place_of(op);
    return place != NULL && rt__ring_take(place, ret_result);
}

/* The result is taken: the waker of an earlier poll has nothing to wait for. */
static void
taken(struct rt_op *op, const struct rt_op_result *result, const struct rt_site *await)
{
    struct rt_ring *ring = op->ring;
    (void)rt_slot_clear_at(&op->slot, await);
    if (!result->more) {
        make_idle(op);
    }
    RT_PROBE(CONSUME, op->object.id, RT_HERE, await, (uint64_t)(int64_t)result->result);
    rt__ring_kick(ring, await);
}

rt_poll
rt_op_poll_at(struct rt_op *op, struct rt_cx *cx, struct rt_op_result *ret_result,
        const struct rt_site *await)
{
    check_op(op);
    rt_cx_check(cx);
    if (op->ring == NULL) {
        rt_fault(RT_E_FINISHED, cx->task->name, "an operation was polled that was not started");
    }
    RT_AWAIT(rt_budget_take_at(cx, await));
    struct rt_op_result result;
    if (!take(op, &result)) {
        rt_ring_turn_at(op->ring, await);
        if (!take(op, &result)) {
            rt_budget_restore(cx);
            const char *reason = queued(op) ? "a place in the ring" : "a completion";
            rt_slot_replace_at(&op->slot, cx, reason, RT_HERE, await);
            return RT_PENDING;
        }
    }
    taken(op, &result, await);
    *ret_result = result;
    return RT_READY;
}

void
rt_op_cancel_at(struct rt_op *op, const struct rt_site *await)
{
    check_op(op);
    struct rt_ring *ring = op->ring;
    if (ring == NULL || op->ended) {
        return;
    }
    if (withdraw(op)) {
        op->ended = true;
        (void)rt_slot_wake_at(&op->slot, await);
        rt__ring_kick(ring, await);
        return;
    }
    struct rt_ring_place *place = place_of(op);
    rt_assert(place != NULL);
    if (!place->finished && place->cancel == RT_RING_CANCEL_NONE) {
        rt__ring_want_cancel(ring, place);
        rt_ring_turn_at(ring, await);
    }
}

static void
ignore(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_assert(place != NULL);
    bool asked = place->cancel != RT_RING_CANCEL_NONE;
    if (place->submission.multi && !place->finished && !asked) {
        rt__ring_want_cancel(ring, place);
    }
    rt__ring_ignore(ring, place);
}

void
rt_op_drop_at(struct rt_op *op, const struct rt_site *await)
{
    check_op(op);
    struct rt_ring *ring = op->ring;
    if (ring == NULL) {
        return;
    }
    (void)rt_slot_clear_at(&op->slot, await);
    struct rt_op_request request = op->request;
    struct rt_ring_place *place = place_of(op);
    bool unseen = op->ended || withdraw(op);
    make_idle(op);
    if (unseen) {
        if (request.release != NULL) {
            request.release(request.argument, RT_E_CANCELLED, false);
        }
    } else {
        ignore(ring, place);
    }
    rt_ring_turn_at(ring, await);
}

rt_poll
rt_op_ready_at(struct rt_op *op, struct rt_ring *ring, int32_t target, uint32_t interest,
        struct rt_cx *cx, int32_t *ret_ready, const struct rt_site *await)
{
    check_op(op);
    rt_assert(ret_ready != NULL);
    if (op->ring == NULL) {
        struct rt_op_request request = {.submission = {
                                                .opcode = RT_OPCODE_POLL,
                                                .target = target,
                                                .interest = interest,
                                        }};
        rt_op_start_at(op, ring, &request, await);
    }
    struct rt_op_result result;
    RT_AWAIT(rt_op_poll_at(op, cx, &result, await));
    rt_assert(!result.more);
    *ret_ready = result.result;
    return RT_READY;
}
