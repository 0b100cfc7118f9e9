/*
 * operation.c -- operations: taken, done in pieces, cancelled, ended.
 *
 * A cancel is an operation like the others. When it is done, its target is gone
 * (RT_E_STALE), too late to be stopped (RT_E_BUSY; it ends normally), or ended with
 * RT_E_CANCELLED; then the two completions have either order, together or apart (U3).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/completion_priv.h"

/* An operation with `multi` is ended by the host once in this many completions (U5). */
#define STOP_ONE_IN 8u
/* A cancel is too late once in this many times that its target could be done. */
#define TOO_LATE_ONE_IN 3u

#define fail_contract(ring, ...) \
    sim_fail((ring)->host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, \
            (ring)->host->world->current, 0, __VA_ARGS__)

/* ---- Ownership of the buffer (U1). ----------------------------------------------------------- */

static char
mark(uint32_t i)
{
    return (char)(0xb5u ^ (i * 29u));
}

static bool
has_buffer(const struct rt_submission *submission)
{
    return submission->opcode == RT_OPCODE_READ || submission->opcode == RT_OPCODE_WRITE;
}

/* Fills or copies the buffer, so that a change by the user can be detected. */
static void
seize(struct sim_ring *ring, struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    if (submission->opcode == RT_OPCODE_READ) {
        for (uint32_t i = 0; i < submission->size; i++) {
            ((char *)submission->buffer)[i] = mark(i);
        }
    } else if (submission->opcode == RT_OPCODE_WRITE) {
        sim__reserve(ring->host->world, &operation->copy, submission->size,
                &operation->copy_capacity, 1);
        memcpy(operation->copy, submission->buffer, submission->size);
    }
}

static bool
untouched(const struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    if (submission->opcode == RT_OPCODE_WRITE) {
        return memcmp(operation->copy, submission->buffer, submission->size) == 0;
    }
    if (submission->opcode == RT_OPCODE_READ) {
        for (uint32_t i = operation->filled; i < submission->size; i++) {
            if (((const char *)submission->buffer)[i] != mark(i)) {
                return false;
            }
        }
    }
    return true;
}

static void
check_buffer(struct sim_ring *ring, const struct sim__operation *operation)
{
    if (!untouched(operation)) {
        fail_contract(ring,
                "the buffer of a %s was changed before its last completion: it is the host's till "
                "then",
                operation->submission.opcode == RT_OPCODE_READ ? "read" : "write");
    }
}

static bool
overlap(const struct rt_submission *a, const struct rt_submission *b)
{
    uintptr_t a_start = (uintptr_t)a->buffer;
    uintptr_t b_start = (uintptr_t)b->buffer;
    return a_start < b_start + b->size && b_start < a_start + a->size;
}

/* Fails where another operation has the same user_data or buffer. */
static void
check_free(struct sim_ring *ring, const struct rt_submission *submission)
{
    rt_list_each(link, &ring->live)
    {
        const struct rt_submission *other = &sim__operation_of(link)->submission;
        if (other->user_data == submission->user_data) {
            fail_contract(ring, "two operations in flight have the same user_data");
        }
        bool writes = submission->opcode == RT_OPCODE_READ || other->opcode == RT_OPCODE_READ;
        if (writes && has_buffer(submission) && has_buffer(other) && overlap(submission, other)) {
            fail_contract(ring, "a buffer was submitted while another operation has it");
        }
    }
}

/* ---- Submissions. ---------------------------------------------------------------------------- */

static struct sim__operation *
operation_new(struct sim_ring *ring)
{
    struct rt_list *link = rt_list_pop_front(&ring->spare);
    if (link != NULL) {
        return sim__operation_of(link);
    }
    struct sim__operation *operation = sim_new(ring->host->world, struct sim__operation);
    rt_list_init(&operation->link);
    return operation;
}

static void
operation_end(struct sim_ring *ring, struct sim__operation *operation)
{
    rt_list_unlink(&operation->link);
    rt_list_push_front(&ring->spare, &operation->link);
    ring->live_count--;
}

static uint64_t
draw_due(struct sim_ring *ring)
{
    uint64_t delay_ns = sim_actor_range(&ring->actor, SIM_KIND_LATENCY, ring->min_ns, ring->max_ns);
    return sim__later(sim_now(ring->host->world), delay_ns);
}

/* The error of an operation that cannot begin, reported by a completion as all results are. */
static int32_t
refusal(const struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    if (submission->opcode == RT_OPCODE_CANCEL) {
        return RT_OK;
    }
    if (operation->device == NULL) {
        return RT_E_STALE;
    }
    bool accepts = submission->opcode == RT_OPCODE_ACCEPT;
    bool polls = submission->opcode == RT_OPCODE_POLL;
    bool fits = accepts == operation->device->listener || polls;
    bool valid = has_buffer(submission) ? submission->size > 0 : true;
    return fits && valid && !(polls && submission->multi) ? RT_OK : RT_E_INVALID;
}

void
sim__operation_take(struct sim_ring *ring, const struct rt_submission *submission)
{
    check_free(ring, submission);
    struct sim__operation *operation = operation_new(ring);
    operation->submission = *submission;
    operation->device = submission->opcode == RT_OPCODE_CANCEL
                                ? NULL
                                : sim__device_find(ring, submission->target);
    operation->filled = 0;
    operation->left_out = 0;
    operation->result = refusal(operation);
    operation->decided = operation->result != RT_OK;
    operation->due_ns = draw_due(ring);
    seize(ring, operation);
    rt_list_push_back(&ring->live, &operation->link);
    ring->live_count++;
}

/* ---- Ends. ----------------------------------------------------------------------------------- */

bool
sim__operation_can_be_done(const struct sim__operation *operation)
{
    return operation->decided || operation->submission.opcode == RT_OPCODE_CANCEL ||
           sim__device_ready(operation->device, &operation->submission);
}

static void
finish(struct sim_ring *ring, struct sim__operation *operation, int32_t result)
{
    check_buffer(ring, operation);
    sim__ring_post(ring, operation, result, false);
    operation_end(ring, operation);
}

/* With `more` where it may continue, unless the host ends it (U5). */
static void
finish_or_continue(
        struct sim_ring *ring, struct sim__operation *operation, int32_t result, bool can)
{
    bool stops = !can || !operation->submission.multi ||
                 sim__one_in(&ring->actor, SIM_KIND_LENGTH, STOP_ONE_IN);
    if (stops) {
        finish(ring, operation, result);
        return;
    }
    check_buffer(ring, operation);
    operation->due_ns = draw_due(ring);
    sim__ring_post(ring, operation, result, true);
}

static void
do_read(struct sim_ring *ring, struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    check_buffer(ring, operation);
    uint32_t moved = sim__device_read(operation->device,
            (char *)submission->buffer + operation->filled, submission->size - operation->filled);
    operation->filled += moved;
    finish_or_continue(
            ring, operation, (int32_t)moved, moved > 0 && operation->filled < submission->size);
}

static void
do_write(struct sim_ring *ring, struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    check_buffer(ring, operation);
    uint32_t moved = sim__device_write(operation->device, submission->buffer, submission->size);
    finish(ring, operation, (int32_t)moved);
}

static struct sim__operation *
find(const struct sim_ring *ring, uint64_t user_data)
{
    rt_list_each(link, &ring->live)
    {
        struct sim__operation *operation = sim__operation_of(link);
        if (operation->submission.user_data == user_data) {
            return operation;
        }
    }
    return NULL;
}

/* It ends with `result`, in a separate step. */
static void
decide(struct sim_ring *ring, struct sim__operation *operation, int32_t result)
{
    operation->decided = true;
    operation->result = result;
    operation->due_ns = draw_due(ring);
}

/* Completes target and cancel: together in either order, or one now and the other later. */
static void
stop(struct sim_ring *ring, struct sim__operation *cancel, struct sim__operation *target)
{
    switch (sim_actor_choose(&ring->actor, SIM_KIND_ORDER, 4, SIM_ODDS_EVEN)) {
    case 0:
        finish(ring, target, RT_E_CANCELLED);
        finish(ring, cancel, 0);
        return;
    case 1:
        finish(ring, cancel, 0);
        finish(ring, target, RT_E_CANCELLED);
        return;
    case 2:
        finish(ring, target, RT_E_CANCELLED);
        decide(ring, cancel, 0);
        return;
    default:
        decide(ring, target, RT_E_CANCELLED);
        finish(ring, cancel, 0);
        return;
    }
}

static void
do_cancel(struct sim_ring *ring, struct sim__operation *cancel)
{
    struct sim__operation *target = find(ring, cancel->submission.cancels);
    if (target == NULL) {
        finish(ring, cancel, RT_E_STALE);
        return;
    }
    bool under_way = sim__operation_can_be_done(target);
    if (target->decided ||
            (under_way && sim__one_in(&ring->actor, SIM_KIND_LATE, TOO_LATE_ONE_IN))) {
        finish(ring, cancel, RT_E_BUSY);
        return;
    }
    stop(ring, cancel, target);
}

void
sim__operation_complete(struct sim_ring *ring, struct sim__operation *operation)
{
    const struct rt_submission *submission = &operation->submission;
    if (operation->decided) {
        finish(ring, operation, operation->result);
        return;
    }
    switch (submission->opcode) {
    case RT_OPCODE_READ:
        do_read(ring, operation);
        return;
    case RT_OPCODE_WRITE:
        do_write(ring, operation);
        return;
    case RT_OPCODE_ACCEPT: {
        int32_t number = sim__device_accept(operation->device);
        finish_or_continue(ring, operation, number, number >= 0);
        return;
    }
    case RT_OPCODE_POLL:
        finish(ring, operation, (int32_t)submission->interest);
        return;
    case RT_OPCODE_CANCEL:
        do_cancel(ring, operation);
        return;
    }
}
