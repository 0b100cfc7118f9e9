/*
 * completion.c -- two small queues, and a step that completes one operation.
 *
 * An operation that was taken is due after a latency, and can be done when its device is
 * ready. Each step of the ring completes one operation that is due and can be done; which
 * one is a decision. So other steps may run between any two completions. operation.c has
 * the operations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/completion_priv.h"

#define QUEUE_SPACE 4u
#define LATENCY_NS_MIN UINT64_C(1000)
#define LATENCY_NS_MAX UINT64_C(1000000)

static const struct sim_odds order_odds = {1, 3};

static struct sim_ring *
ring_of(struct rt_completion_host *seam)
{
    struct sim_ring *ring = rt_container_of(seam, struct sim_ring, seam);
    rt_check(ring, SIM__RING_MAGIC);
    return ring;
}

/* ---- The record. ----------------------------------------------------------------------------- */

static void
note(const struct sim_ring *ring, uint32_t number, uint64_t value, rt_err err)
{
    const struct sim_call call = {
            .number = number, .value = value, .error = (uint32_t)-err, .fd = SIM_CALL_NO_FD};
    sim_world_called(ring->host->world, &call, ring->source->object, 0);
}

/* One with an operation: a CANCEL is known by what it cancels. */
static void
note_operation(const struct sim_ring *ring, uint32_t number, const struct rt_submission *submission,
        int32_t result)
{
    bool cancels = submission->opcode == RT_OPCODE_CANCEL;
    const struct sim_call call = {.number = number,
            .value = cancels ? submission->cancels : submission->user_data,
            .fd = (uint32_t)submission->target,
            .second = (uint32_t)submission->opcode,
            .error = result < 0 ? (uint32_t)-result : 0};
    sim_world_called(ring->host->world, &call, ring->source->object, 0);
}

/* ---- Completions. ---------------------------------------------------------------------------- */

static void
on_completion(void *argument, uint64_t amount)
{
    struct sim_ring *ring = argument;
    (void)amount;
    sim__source_level(ring->source, true);
}

/* Moves the overflow into the queue, as far as it has space. */
static void
show(struct sim_ring *ring)
{
    uint32_t count = ring->completion_count;
    ring->shown = count < ring->completion_queue_max ? count : ring->completion_queue_max;
}

void
sim__ring_post(
        struct sim_ring *ring, const struct sim__operation *operation, int32_t result, bool more)
{
    sim__reserve(ring->host->world, &ring->completions, ring->completion_count + 1,
            &ring->completion_capacity, sizeof(*ring->completions));
    bool fits = ring->completion_count == ring->shown && ring->shown < ring->completion_queue_max;
    ring->completions[ring->completion_count++] =
            (struct rt_completion){operation->submission.user_data, result, more};
    if (fits) {
        ring->shown++;
    }
    note_operation(ring, SIM_CALL_complete, &operation->submission, result);
    sim__source_arrive_now(ring->source, 1);
}

/* ---- Its step. ------------------------------------------------------------------------------- */

static bool
is_candidate(const struct sim_ring *ring, const struct sim__operation *operation)
{
    return operation->due_ns <= sim_now(ring->host->world) && sim__operation_can_be_done(operation);
}

/* One of those that are due and can be done; the oldest is passed over a bounded number of times.
 */
static struct sim__operation *
choose(struct sim_ring *ring)
{
    struct sim__operation *candidates[SIM_ALTERNATIVES_MAX];
    uint32_t n = 0;
    rt_list_each(link, &ring->live)
    {
        if (n < SIM_ALTERNATIVES_MAX && is_candidate(ring, sim__operation_of(link))) {
            candidates[n++] = sim__operation_of(link);
        }
    }
    if (n == 0) {
        return NULL;
    }
    uint32_t index = 0;
    if (candidates[0]->left_out < SIM__LEFT_OUT_MAX) {
        index = sim_actor_choose(&ring->actor, SIM_KIND_ORDER, n, order_odds);
    }
    candidates[0]->left_out += index != 0;
    return candidates[index];
}

static void
ring_step(struct sim_actor *actor)
{
    struct sim_ring *ring = rt_container_of(actor, struct sim_ring, actor);
    struct sim__operation *operation = choose(ring);
    if (operation != NULL) {
        sim__operation_complete(ring, operation);
    }
    sim__ring_update(ring);
}

static const struct sim_actor_ops ring_ops = {.kind = SIM_ACTOR_SOURCE, .step = ring_step};

void
sim__ring_update(struct sim_ring *ring)
{
    uint64_t next_ns = SIM_NEVER;
    rt_list_each(link, &ring->live)
    {
        const struct sim__operation *operation = sim__operation_of(link);
        if (is_candidate(ring, operation)) {
            sim_actor_enable(&ring->actor);
        } else if (sim__operation_can_be_done(operation) && operation->due_ns < next_ns) {
            next_ns = operation->due_ns;
        }
    }
    sim_actor_due(&ring->actor, next_ns);
}

/* ---- The seam. ------------------------------------------------------------------------------- */

static rt_err
seam_push(struct rt_completion_host *seam, const struct rt_submission *submission)
{
    struct sim_ring *ring = ring_of(seam);
    bool full = ring->submission_count == ring->submission_capacity;
    note_operation(ring, SIM_CALL_push, submission, full ? RT_E_FULL : RT_OK);
    if (full) {
        return RT_E_FULL;
    }
    ring->submissions[ring->submission_count++] = *submission;
    return RT_OK;
}

/* Under fault `capacity`, while a completion will follow after which the caller can try again. */
static bool
short_of_space(struct sim_ring *ring)
{
    return (ring->live_count > 0 || ring->completion_count > 0) &&
           sim__fault(ring->host, SIM_FAULT_CAPACITY);
}

static void
take_all(struct sim_ring *ring)
{
    for (uint32_t i = 0; i < ring->submission_count; i++) {
        sim__operation_take(ring, &ring->submissions[i]);
    }
    ring->submission_count = 0;
    sim__ring_update(ring);
}

static rt_err
seam_enter(struct rt_completion_host *seam)
{
    struct sim_ring *ring = ring_of(seam);
    sim__host_call(ring->host, "enter");
    show(ring);
    bool full = ring->submission_count > 0 &&
                (ring->completion_count > ring->shown || short_of_space(ring));
    note(ring, SIM_CALL_enter, ring->submission_count, full ? RT_E_AGAIN : RT_OK);
    if (full) {
        return RT_E_AGAIN;
    }
    if (ring->submission_count > 0) {
        take_all(ring);
    }
    return RT_OK;
}

static uint32_t
seam_reap(struct rt_completion_host *seam, struct rt_completion *ret_completions, uint32_t max)
{
    struct sim_ring *ring = ring_of(seam);
    sim__host_call(ring->host, "reap");
    rt_assert(max > 0);
    uint32_t count = ring->shown < max ? ring->shown : max;
    if (ring->completion_count > 0) {
        note(ring, SIM_CALL_reap, count, RT_OK);
    }
    if (count == 0) {
        return 0;
    }
    memcpy(ret_completions, ring->completions, count * sizeof *ret_completions);
    ring->completion_count -= count;
    ring->shown -= count;
    memmove(ring->completions, ring->completions + count,
            ring->completion_count * sizeof *ring->completions);
    sim__source_level(ring->source, ring->completion_count > 0);
    return count;
}

static bool
seam_overflowed(struct rt_completion_host *seam)
{
    const struct sim_ring *ring = ring_of(seam);
    sim__host_call(ring->host, "overflowed");
    return ring->completion_count > ring->shown;
}

static rt_err
seam_subscribe(struct rt_completion_host *seam, struct rt_pollable *pollable)
{
    return sim_source_subscribe(ring_of(seam)->source, pollable);
}

/* ---- What is silent (silence.c). ------------------------------------------------------------- */

static uint32_t
set_aside(const struct sim_ring *ring)
{
    return ring->completion_count - ring->shown;
}

static uint32_t
waiter_of(const struct sim_ring *ring)
{
    rt_list_each(node, &ring->host->blocked)
    {
        const struct sim__blocked *blocked = rt_container_of(node, struct sim__blocked, link);
        if (sim__list_waits_for(blocked, NULL, ring->source)) {
            return blocked->actor->index;
        }
    }
    return 0;
}

static uint32_t
ring_silences(void *argument, uint32_t nth, struct sim_silence *ret)
{
    const struct sim_ring *ring = argument;
    const uint32_t left[] = {ring->submission_count, set_aside(ring)};
    static const uint32_t kinds[] = {SIM_SILENT_PUSHED, SIM_SILENT_SET_ASIDE};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (left[i] > 0 && count++ == nth) {
            *ret = (struct sim_silence){.kind = kinds[i],
                    .object = ring->source->object,
                    .waiter = waiter_of(ring),
                    .left = left[i]};
        }
    }
    return count;
}

/* As a call of `enter` would. */
static void
ring_ask_again(void *argument, const struct sim_silence *silence)
{
    struct sim_ring *ring = argument;
    if (silence->object == ring->source->object) {
        show(ring);
        take_all(ring);
    }
}

static const struct sim_binding_ops binding_ops = {
        .silences = ring_silences, .ask_again = ring_ask_again};

static const struct rt_completion_ops seam_ops = {.push = seam_push,
        .enter = seam_enter,
        .reap = seam_reap,
        .overflowed = seam_overflowed,
        .subscribe = seam_subscribe};

struct sim_ring *
sim_ring_new(struct sim_host *host, const char *name, const struct sim_ring_options *options)
{
    static const struct sim_ring_options defaults = {0};
    rt_check(host, SIM__HOST_MAGIC);
    options = options != NULL ? options : &defaults;
    bool timed = options->min_ns != 0 || options->max_ns != 0;
    rt_assert(options->min_ns <= options->max_ns);
    struct sim_ring *ring = sim_new(host->world, struct sim_ring);
    ring->seam = (struct rt_completion_host){RT_COMPLETION_HOST_MAGIC, &seam_ops};
    ring->magic = SIM__RING_MAGIC;
    ring->host = host;
    ring->min_ns = timed ? options->min_ns : LATENCY_NS_MIN;
    ring->max_ns = timed ? options->max_ns : LATENCY_NS_MAX;
    ring->submission_capacity = options->submissions != 0 ? options->submissions : QUEUE_SPACE;
    ring->completion_queue_max = options->completions != 0 ? options->completions : QUEUE_SPACE;
    ring->submissions =
            sim_alloc(host->world, ring->submission_capacity * sizeof *ring->submissions);
    rt_list_init(&ring->live);
    rt_list_init(&ring->spare);
    sim_actor_init(&ring->actor, host->world, &ring_ops, NULL, name, false);
    ring->source = sim__source_new(
            host, sim__name_join(host->world, name, " completions"), on_completion, ring);
    ring->source->spared = true;
    sim_world_bind(host->world, &ring->binding, &binding_ops, ring, name);
    return ring;
}

struct rt_completion_host *
sim_ring_seam(struct sim_ring *ring)
{
    rt_check(ring, SIM__RING_MAGIC);
    return &ring->seam;
}

uint32_t
sim_ring_live(const struct sim_ring *ring)
{
    rt_check(ring, SIM__RING_MAGIC);
    return ring->live_count;
}
