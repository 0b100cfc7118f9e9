/*
 * ring.c -- places, the two queues before the host, and the turn.
 *
 * A turn is one loop of three parts, until nothing more comes:
 *
 *   1. Reap. Each completion finds its place by index and generation, is stored or released, and
 *      wakes its waiter. One without space for its result is held, and nothing more is reaped.
 *   2. Push what is unsent, in order. A queue that is full is entered, and pushed again.
 *   3. Enter, if anything was pushed or the host keeps completions aside.
 *
 * Then the ring waits for its pollable, if anything is outstanding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/ring.h"

#include <stddef.h>

#include "runtime/io/ring_internal.h"
#include "runtime/runtime.h"

#include "runtime/base/banned.h"

#define RING_MAGIC 0x5252494eu

/* In user_data: this completion answers the cancel of the operation. */
#define CANCEL_MARK (UINT64_C(1) << 63)
#define GENERATION_END (UINT32_C(1) << 31)

void
rt__ring_check(const struct rt_ring *ring)
{
    rt_assert(ring != NULL);
    if (ring->object.magic != RING_MAGIC) {
        rt_fault(RT_E_INVALID, NULL, "a ring was used that rt_ring_init never made");
    }
}

/* ---- Places. --------------------------------------------------------------------------------- */

static struct rt_ring_place *
place_of(struct rt_list *link)
{
    return rt_container_of(link, struct rt_ring_place, link);
}

static uint64_t
user_data_of(const struct rt_ring_place *place)
{
    rt_assert(place->key.generation < GENERATION_END);
    return (uint64_t)place->key.generation << 32 | place->key.index;
}

static struct rt_ring_place *
place_by_user_data(const struct rt_ring *ring, uint64_t user_data)
{
    struct rt_key key = {(uint32_t)user_data, (uint32_t)((user_data & ~CANCEL_MARK) >> 32)};
    struct rt_ring_place *place = rt_slab_get(&ring->slab, key);
    if (place == NULL) {
        rt_fault(RT_E_STALE, "ring", "the host completed an operation that it does not have");
    }
    return place;
}

/* False when there is none free. */
static bool
give_place(struct rt_ring *ring, struct rt_op *op)
{
    struct rt_key key;
    struct rt_list *link = ring->free.next;
    if (link == &ring->free || rt_slab_insert(&ring->slab, place_of(link), &key) != RT_OK) {
        return false;
    }
    rt_list_unlink(link);
    struct rt_ring_place *place = place_of(link);
    *place = (struct rt_ring_place){.key = key,
            .op = op,
            .object = op->object.id,
            .submission = op->request.submission,
            .release = op->request.release,
            .argument = op->request.argument};
    rt_list_init(&place->results);
    rt_list_init(&place->link);
    rt_list_push_back(&ring->unsent, &place->link);
    op->key = key;
    return true;
}

/* The operation that has waited longest gets the place that has become free. */
static void
promote(struct rt_ring *ring)
{
    while (!rt_list_empty(&ring->queued)) {
        struct rt_op *op = rt_container_of(ring->queued.next, struct rt_op, link);
        if (!give_place(ring, op)) {
            return;
        }
        rt_list_unlink(&op->link);
    }
}

void
rt__ring_admit(struct rt_ring *ring, struct rt_op *op)
{
    /* Not before queued ones. */
    if (!rt_list_empty(&ring->queued) || !give_place(ring, op)) {
        rt_list_push_back(&ring->queued, &op->link);
    }
}

struct rt_ring_place *
rt__ring_place(const struct rt_op *op)
{
    struct rt_ring_place *place = rt_slab_get(&op->ring->slab, op->key);
    rt_assert(place == NULL || place->op == op);
    return place;
}

static bool
over(const struct rt_ring_place *place)
{
    return place->finished && place->op == NULL && place->cancel != RT_RING_CANCEL_SENT &&
           rt_list_empty(&place->results);
}

static void
free_place(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_assert(rt_list_empty(&place->results));
    rt_list_unlink(&place->link);
    (void)rt_slab_remove(&ring->slab, place->key);
    rt_list_push_front(&ring->free, &place->link);
    promote(ring);
}

static void
settle(struct rt_ring *ring, struct rt_ring_place *place)
{
    if (over(place)) {
        free_place(ring, place);
    }
}

void
rt__ring_withdraw(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_assert(!place->sent);
    free_place(ring, place);
}

/* ---- Results. -------------------------------------------------------------------------------- */

static void
release(rt_op_release_fn fn, void *argument, int32_t result, bool more)
{
    if (fn != NULL) {
        fn(argument, result, more);
    }
}

/* Frees the node of the oldest result and returns what was in it. */
static int32_t
pop_result(struct rt_ring *ring, struct rt_ring_place *place)
{
    struct rt_list *link = rt_list_pop_front(&place->results);
    rt_assert(link != NULL);
    rt_list_push_back(&ring->free_results, link);
    return rt_container_of(link, struct rt_ring_result, link)->result;
}

/* False when there is no space for the result of a living handle. */
static bool
deliver_more(struct rt_ring *ring, struct rt_ring_place *place, int32_t result)
{
    if (place->op == NULL) {
        release(place->release, place->argument, result, true);
        return true;
    }
    struct rt_list *link = rt_list_pop_front(&ring->free_results);
    if (link == NULL) {
        return false;
    }
    rt_container_of(link, struct rt_ring_result, link)->result = result;
    rt_list_push_back(&place->results, link);
    return true;
}

static void
deliver_final(struct rt_ring *ring, struct rt_ring_place *place, int32_t result)
{
    place->finished = true;
    place->final = result;
    ring->outstanding--;
    if (place->cancel == RT_RING_CANCEL_WANTED) {
        place->cancel = RT_RING_CANCEL_NONE;
        rt_list_unlink(&place->link);
    }
    if (place->op == NULL) {
        rt_op_release_fn fn = place->release;
        void *argument = place->argument;
        settle(ring, place); /* Before the call: the buffer's owner may use the ring. */
        release(fn, argument, result, false);
    }
}

static void
deliver_cancel(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_assert(place->cancel == RT_RING_CANCEL_SENT);
    place->cancel = RT_RING_CANCEL_NONE;
    ring->outstanding--;
    settle(ring, place);
}

/* False when the completion must wait for space. */
static bool
deliver(struct rt_ring *ring, const struct rt_completion *completion, const struct rt_site *await)
{
    struct rt_ring_place *place = place_by_user_data(ring, completion->user_data);
    if ((completion->user_data & CANCEL_MARK) != 0) {
        deliver_cancel(ring, place);
        return true;
    }
    if (place->finished || !place->sent) {
        rt_fault(
                RT_E_FINISHED, "ring", "the host completed an operation after its last completion");
    }
    struct rt_op *op = place->op;
    RT_PROBE(DONE, place->object, RT_HERE, await, (uint64_t)(int64_t)completion->result);
    if (!completion->more) {
        deliver_final(ring, place, completion->result);
    } else if (!deliver_more(ring, place, completion->result)) {
        return false;
    }
    if (op != NULL) {
        (void)rt_slot_wake_at(&op->slot, await);
    }
    return true;
}

bool
rt__ring_take(struct rt_ring_place *place, struct rt_op_result *ret_result)
{
    struct rt_op *op = place->op;
    struct rt_ring *ring = op->ring;
    if (!rt_list_empty(&place->results)) {
        *ret_result = (struct rt_op_result){pop_result(ring, place), true};
        return true;
    }
    if (!place->finished) {
        return false;
    }
    *ret_result = (struct rt_op_result){place->final, false};
    place->op = NULL;
    settle(ring, place);
    return true;
}

void
rt__ring_ignore(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_op_release_fn fn = place->release;
    void *argument = place->argument;
    bool turning = ring->turning;
    place->op = NULL;
    ring->turning = true; /* What is called here must not free the place. */
    while (!rt_list_empty(&place->results)) {
        release(fn, argument, pop_result(ring, place), true);
    }
    ring->turning = turning;
    if (place->finished) {
        int32_t result = place->final;
        settle(ring, place);
        release(fn, argument, result, false);
    }
}

void
rt__ring_want_cancel(struct rt_ring *ring, struct rt_ring_place *place)
{
    rt_assert(place->sent && !place->finished);
    rt_assert(place->cancel == RT_RING_CANCEL_NONE);
    rt_assert(rt_list_empty(&place->link));
    place->cancel = RT_RING_CANCEL_WANTED;
    rt_list_push_back(&ring->unsent, &place->link);
}

/* ---- The turn. ------------------------------------------------------------------------------- */

/* Part 1. Returns how many completions were reaped or delivered. */
static uint32_t
reap(struct rt_ring *ring, const struct rt_site *await)
{
    uint32_t reaped = 0;
    for (;;) {
        if (!ring->holding && ring->host->ops->reap(ring->host, &ring->held, 1) == 0) {
            return reaped;
        }
        struct rt_completion completion = ring->held;
        ring->holding = !deliver(ring, &completion, await);
        if (ring->holding) {
            return reaped;
        }
        reaped++;
    }
}

static void
enter(struct rt_ring *ring)
{
    if (!ring->pushed && !ring->host->ops->overflowed(ring->host)) {
        return;
    }
    /* RT_E_AGAIN: a completion will come, and with it another turn. */
    if (ring->host->ops->enter(ring->host) == RT_OK) {
        ring->pushed = false;
    }
}

static bool
push_one(struct rt_ring *ring, struct rt_ring_place *place, const struct rt_site *await)
{
    struct rt_submission submission = place->submission;
    submission.user_data = user_data_of(place);
    if (place->sent) {
        rt_assert(place->cancel == RT_RING_CANCEL_WANTED);
        submission = (struct rt_submission){.opcode = RT_OPCODE_CANCEL,
                .user_data = submission.user_data | CANCEL_MARK,
                .cancels = submission.user_data};
    }
    if (ring->host->ops->push(ring->host, &submission) != RT_OK) {
        return false;
    }
    RT_PROBE(SUBMIT, place->object, RT_HERE, await, submission.opcode);
    rt_list_unlink(&place->link);
    place->cancel = place->sent ? RT_RING_CANCEL_SENT : RT_RING_CANCEL_NONE;
    place->sent = true;
    ring->pushed = true;
    ring->outstanding++;
    return true;
}

/* Part 2. What does not fit, also after an enter, stays queued for the next turn (U7). */
static void
push(struct rt_ring *ring, const struct rt_site *await)
{
    while (!rt_list_empty(&ring->unsent)) {
        struct rt_ring_place *place = place_of(ring->unsent.next);
        if (push_one(ring, place, await)) {
            continue;
        }
        enter(ring);
        if (!push_one(ring, place, await)) {
            return;
        }
    }
}

/* All three parts, until nothing more comes. */
static void
drain(struct rt_ring *ring, const struct rt_site *await)
{
    uint32_t idle = 0;
    do {
        uint32_t reaped = reap(ring, await);
        idle = reaped > 0 ? 0 : idle + 1;
        rt_assert(idle < 3); /* The host sets completions aside, and enter does not deliver them. */
        push(ring, await);
        enter(ring);
    } while (!ring->holding && (idle == 0 || ring->host->ops->overflowed(ring->host)));
}

/* ---- Waiting for the host. ------------------------------------------------------------------- */

static struct rt_waker
waker_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    return *waker;
}

static void
waker_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    rt_ring_turn_at((struct rt_ring *)waker->data, await);
}

static void
waker_wake(struct rt_waker waker, const struct rt_site *await)
{
    waker_wake_by_ref(&waker, await);
}

static void
waker_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static const struct rt_waker_vt waker_vt = {.clone = waker_clone,
        .wake = waker_wake,
        .wake_by_ref = waker_wake_by_ref,
        .drop = waker_drop};

static rt_poll
watcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    rt_unreached("the watcher only owns a wait, and is never posted");
}

/* While holding, it would only be woken again for what it cannot take. */
static bool
must_watch(const struct rt_ring *ring)
{
    return ring->runtime != NULL && ring->outstanding > 0 && !ring->holding;
}

/* True when completions are there already. */
static bool
watch(struct rt_ring *ring, const struct rt_site *await)
{
    if (!must_watch(ring)) {
        rt_wait_cancel_at(&ring->wait, await);
        return false;
    }
    struct rt_cx cx;
    struct rt_executor *executor = &ring->runtime->executor;
    struct rt_waker waker = {&waker_vt, (uintptr_t)ring};
    /* This poll is the ring's: it neither takes nor adds a unit of the poll that led here. */
    uint32_t budget_left = executor->budget_left;
    rt_cx_init(&cx, executor, &ring->watcher, waker);
    (void)rt_budget_suspend(&cx);
    rt_poll polled = rt_wait_for_at(&ring->wait, &ring->pollable, &cx, await);
    rt_budget_resume(&cx, budget_left);
    rt_cx_poison(&cx);
    return polled == RT_READY;
}

void
rt_ring_turn_at(struct rt_ring *ring, const struct rt_site *await)
{
    rt__ring_check(ring);
    if (ring->turning || (ring->runtime != NULL && ring->runtime->frozen)) {
        return;
    }
    ring->turning = true;
    do {
        drain(ring, await);
    } while (watch(ring, await));
    ring->turning = false;
    rt__ring_verify(ring);
}

void
rt__ring_kick(struct rt_ring *ring, const struct rt_site *await)
{
    if (ring->holding || !rt_list_empty(&ring->unsent)) {
        rt_ring_turn_at(ring, await);
    }
}

/* ---- The whole. ------------------------------------------------------------------------------ */

const char *
rt_ring_audit(const struct rt_ring *ring)
{
    rt__ring_check(ring);
    uint32_t outstanding = 0;
    for (uint32_t i = 0; i < ring->slab.capacity; i++) {
        const struct rt_ring_place *place = rt_slab_at(&ring->slab, i, NULL);
        if (place == NULL) {
            continue;
        }
        if (over(place)) {
            return "a place is kept for an operation that has ended";
        }
        if (place->op != NULL && place->finished && !rt_slot_empty(&place->op->slot)) {
            return "an operation is complete, and its waiter was not woken";
        }
        outstanding += place->sent && !place->finished;
        outstanding += place->cancel == RT_RING_CANCEL_SENT;
    }
    if (outstanding != ring->outstanding) {
        return "the count of outstanding completions is wrong";
    }
    if (!rt_list_empty(&ring->queued) && !rt_list_empty(&ring->free) &&
            ring->slab.used + ring->slab.retired < ring->slab.capacity) {
        return "an operation queues for a place while one is free";
    }
    if (!ring->turning && must_watch(ring) && rt_slot_empty(&ring->wait.slot)) {
        return "operations are with the host, and no wait for their completions is registered";
    }
    return NULL;
}

static const char *
ring_audit(const struct rt_object *object)
{
    return rt_ring_audit(rt_container_of(object, const struct rt_ring, object));
}

static void
borrow(struct rt_ring *ring, const struct rt_ring_config *config)
{
    uint32_t generation_max = GENERATION_END - 1;
    generation_max = generation_max < RT_GENERATION_MAX ? generation_max : RT_GENERATION_MAX;
    rt_slab_init_bounded(&ring->slab, config->entries, config->capacity, generation_max);
    for (uint32_t i = 0; i < config->capacity; i++) {
        rt_list_push_back(&ring->free, &config->places[i].link);
    }
    for (uint32_t i = 0; i < config->result_count; i++) {
        rt_list_push_back(&ring->free_results, &config->results[i].link);
    }
}

rt_err
rt_ring_init(struct rt_ring *ring, const struct rt_ring_config *config)
{
    rt_assert(ring != NULL);
    rt_assert(config->capacity > 0 && config->places != NULL && config->entries != NULL);
    rt_check(config->host, RT_COMPLETION_HOST_MAGIC);
    *ring = (struct rt_ring){.host = config->host, .runtime = config->runtime};
    rt_err err = config->host->ops->subscribe(config->host, &ring->pollable);
    if (err != RT_OK) {
        return err;
    }
    ring->object = (struct rt_object){RING_MAGIC, RT_PROBE_OBJECT(OPERATION)};
    rt_list_init(&ring->free);
    rt_list_init(&ring->unsent);
    rt_list_init(&ring->queued);
    rt_list_init(&ring->free_results);
    rt_wait_init(&ring->wait);
    rt_task_init(&ring->watcher, watcher_poll, NULL, "ring");
    borrow(ring, config);
    RT_PROBE_AUDIT(&ring->object, ring_audit);
    return RT_OK;
}

void
rt_ring_fini(struct rt_ring *ring)
{
    rt__ring_check(ring);
    rt_assert(!ring->turning);
    if (ring->slab.used > 0 || !rt_list_empty(&ring->queued)) {
        rt_fault(RT_E_IN_USE, "ring", "a ring was ended while the host had operations of it");
    }
    RT_PROBE_AUDIT(&ring->object, NULL);
    rt_wait_cancel(&ring->wait);
    rt_task_fini(&ring->watcher);
    rt_pollable_drop(&ring->pollable);
    ring->object.magic = 0;
}

uint32_t
rt_ring_used(const struct rt_ring *ring)
{
    rt__ring_check(ring);
    return ring->slab.used;
}
