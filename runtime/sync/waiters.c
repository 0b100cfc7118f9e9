/*
 * waiters.c -- which waiter is served, in which order, and what happens to units left over.
 *
 * Three steps, always in this order: units change hands (`hand_out`), the waiters that
 * are complete move to a list of the caller's, and then they are woken (`fire`). A
 * waiter may be dropped in the third step by the wake of another: it then unlinks itself
 * from that list and gives its units back, and is not woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/waiters.h"

#include "runtime/task/executor.h"

#include "runtime/base/banned.h"

static struct rt_waiter *
waiter_of(struct rt_list *node)
{
    return rt_container_of(node, struct rt_waiter, link);
}

static uint32_t
missing(const struct rt_waiter *waiter)
{
    rt_assert(waiter->held <= waiter->wanted);
    return waiter->wanted - waiter->held;
}

/* Everything that `waiter` holds is free again. */
static uint32_t
strip(struct rt_waiters *waiters, struct rt_waiter *waiter)
{
    uint32_t units = waiter->held;
    rt_assert(waiters->assigned >= units);
    waiters->assigned -= units;
    waiters->free += units;
    waiter->held = 0;
    return units;
}

/* Moves `units` from the free ones to `waiter`. */
static void
assign(struct rt_waiters *waiters, struct rt_waiter *waiter, uint32_t units)
{
    rt_assert(units <= waiters->free);
    rt_assert(units <= missing(waiter));
    waiters->free -= units;
    waiters->assigned += units;
    waiter->held += units;
}

/* The first awaited waiter of the queue, or NULL. Those before it are passed over for good. */
static struct rt_waiter *
first(struct rt_waiters *waiters)
{
    while (!rt_list_empty(&waiters->line)) {
        struct rt_waiter *waiter = waiter_of(waiters->line.next);
        rt_assert(waiter->state == RT_WAITER_QUEUED);
        if (__builtin_expect(rt_slot_awaited(&waiter->slot), 1)) {
            return waiter;
        }
        rt_list_unlink(&waiter->link);
        waiter->state = RT_WAITER_PASSED;
        waiters->passed++;
        (void)strip(waiters, waiter);
    }
    return NULL;
}

/* To be called before the state of `waiter` changes. */
static void
forget_passed(struct rt_waiters *waiters, const struct rt_waiter *waiter)
{
    if (waiter->state == RT_WAITER_PASSED) {
        rt_assert(waiters->passed > 0);
        waiters->passed--;
    }
}

/* Takes `waiter` out of the queue; it is in `due` until it is woken. */
static void
resolve(struct rt_waiter *waiter, enum rt_waiter_state state, struct rt_list *due)
{
    rt_assert(waiter->state == RT_WAITER_QUEUED);
    rt_list_unlink(&waiter->link);
    waiter->state = state;
    rt_list_push_back(due, &waiter->link);
}

/* Gives what is free to queued waiters, in their order. */
static void
hand_out(struct rt_waiters *waiters, struct rt_list *due, const struct rt_site *await)
{
    struct rt_waiter *waiter;
    while ((waiter = first(waiters)) != NULL && waiters->free > 0) {
        uint32_t units = missing(waiter);
        assign(waiters, waiter, units < waiters->free ? units : waiters->free);
        if (missing(waiter) > 0) {
            return;
        }
        RT_PROBE(GRANT, waiters->object, RT_HERE, await, waiter->wanted);
        resolve(waiter, RT_WAITER_GRANTED, due);
    }
}

/* Wakes those of `due`, which may change meanwhile. */
static void
fire(struct rt_waiters *waiters, struct rt_list *due, const struct rt_site *await)
{
    struct rt_list *node;
    while ((node = rt_list_pop_front(due)) != NULL) {
        rt_list_push_back(&waiters->resolved, node);
        (void)rt_slot_wake_at(&waiter_of(node)->slot, await);
    }
}

void
rt__waiters_settle(struct rt_waiters *waiters, const struct rt_site *await)
{
    struct rt_list due;
    rt_list_init(&due);
    hand_out(waiters, &due, await);
    fire(waiters, &due, await);
}

/* Into the queue, before the first with a later ticket: mostly at the tail. */
static void
join(struct rt_waiters *waiters, struct rt_waiter *waiter)
{
    if (waiter->state == RT_WAITER_IDLE) {
        rt_slot_init(&waiter->slot);
        waiter->slot.owner = waiters->object;
        waiter->ticket = waiters->next_ticket++;
        rt_list_push_back(&waiters->line, &waiter->link);
    } else {
        struct rt_list *node = waiters->line.next;
        while (node != &waiters->line && waiter_of(node)->ticket < waiter->ticket) {
            node = node->next;
        }
        rt_list_unlink(&waiter->link);
        rt_list_push_back(node, &waiter->link);
    }
    forget_passed(waiters, waiter);
    waiter->state = RT_WAITER_QUEUED;
}

/* The units leave with the caller. */
static rt_poll
finish(struct rt_waiters *waiters, struct rt_waiter *waiter, const struct rt_site *await)
{
    rt_assert(missing(waiter) == 0);
    rt_assert(waiters->assigned >= waiter->held);
    waiters->assigned -= waiter->held;
    waiter->held = 0;
    if (waiter->state != RT_WAITER_IDLE) {
        rt_list_unlink(&waiter->link);
        (void)rt_slot_clear_at(&waiter->slot, await);
        forget_passed(waiters, waiter);
        waiter->state = RT_WAITER_IDLE;
    }
    return RT_READY;
}

/*
 * Whether it is the turn of `waiter`, before `ahead`, the head of the queue. A new waiter has the
 * whole queue before it; one that was passed over and polled again has its old position.
 */
static bool
has_turn(const struct rt_waiter *waiter, const struct rt_waiter *ahead)
{
    bool is_new = waiter->state == RT_WAITER_IDLE;
    return waiter->wanted == 0 || ahead == NULL || ahead == waiter ||
           (!is_new && waiter->ticket < ahead->ticket);
}

/* Only the head of the queue collects, and nothing is free while it does. */
static bool
is_sound(const struct rt_waiters *waiters)
{
    uint32_t held = 0;
    rt_list_each(node, &waiters->line)
    {
        const struct rt_waiter *waiter = waiter_of(node);
        if (waiter->held > 0 && node != waiters->line.next) {
            return false;
        }
        held += waiter->held;
    }
    rt_list_each(node, &waiters->resolved)
    {
        held += waiter_of(node)->held;
    }
    return held == waiters->assigned && (waiters->free == 0 || !rt_waiters_queueing(waiters));
}

void
rt_waiters_init(struct rt_waiters *waiters, uint32_t object, uint32_t free)
{
    rt_assert(waiters != NULL);
    rt_assert(free <= RT_UNITS_MAX);
    *waiters = (struct rt_waiters){.free = free, .object = object};
    rt_list_init(&waiters->line);
    rt_list_init(&waiters->resolved);
}

void
rt_waiters_fini(struct rt_waiters *waiters, const char *who)
{
    if (!rt_waiters_idle(waiters)) {
        rt_fault(RT_E_IN_USE, who, "it was ended while a task waits for it (drop the future)");
    }
    rt_assert(waiters->assigned == 0);
}

bool
rt_waiters_take(struct rt_waiters *waiters, uint32_t units)
{
    bool enough = waiters->free >= units;
    if (!enough || (!rt_list_empty(&waiters->line) && first(waiters) != NULL)) {
        return false;
    }
    waiters->free -= units;
    return true;
}

/* Takes all awaited waiters out of the queue, without a unit. */
static uint32_t
resolve_all(struct rt_waiters *waiters, struct rt_list *due)
{
    struct rt_waiter *waiter;
    uint32_t count = 0;
    while ((waiter = first(waiters)) != NULL) {
        (void)strip(waiters, waiter);
        resolve(waiter, RT_WAITER_WOKEN, due);
        count++;
    }
    waiters->called = waiters->next_ticket;
    return count;
}

uint32_t
rt_waiters_wake_all(struct rt_waiters *waiters, const struct rt_site *await)
{
    struct rt_list due;
    rt_list_init(&due);
    uint32_t count = resolve_all(waiters, &due);
    fire(waiters, &due, await);
    return count;
}

static struct rt_waiter *
at(struct rt_list *list, uint32_t index)
{
    struct rt_list *node = list->next;
    for (uint32_t i = 0; i < index; i++) {
        node = node->next;
    }
    rt_assert(node != list);
    return waiter_of(node);
}

/* Which of `count` is woken first; chosen by the executor of the head. */
static uint32_t
choose(struct rt_list *due, uint32_t count)
{
    const uint32_t most = 64; /* As many as one choice can distinguish. */
    const struct rt_target *target = rt_waker_target(&at(due, 0)->slot.waker);
    return target != NULL ? rt_executor_choose(target->executor, count < most ? count : most) : 0;
}

static uint32_t
length(const struct rt_list *list)
{
    uint32_t count = 0;
    rt_list_each(node, list)
    {
        count++;
    }
    return count;
}

uint32_t
rt_waiters_wake_all_chosen(struct rt_waiters *waiters, const struct rt_site *await)
{
    struct rt_list due;
    rt_list_init(&due);
    uint32_t count = resolve_all(waiters, &due);
    /* Counted again each time: a woken task may drop other waiters of this list. */
    for (uint32_t left = count; left > 0; left = length(&due)) {
        struct rt_waiter *waiter = at(&due, choose(&due, left));
        rt_list_unlink(&waiter->link);
        rt_list_push_back(&waiters->resolved, &waiter->link);
        (void)rt_slot_wake_at(&waiter->slot, await);
    }
    return count;
}

void
rt_waiters_revoke(struct rt_waiters *waiters)
{
    rt_list_each(node, &waiters->resolved)
    {
        struct rt_waiter *waiter = waiter_of(node);
        if (waiter->state == RT_WAITER_GRANTED) {
            (void)strip(waiters, waiter);
            waiter->state = RT_WAITER_WOKEN;
        }
    }
    rt_assert(waiters->assigned == 0);
    waiters->free = 0;
}

bool
rt_waiters_queueing(const struct rt_waiters *waiters)
{
    rt_list_each(node, &waiters->line)
    {
        if (rt_slot_awaited(&waiter_of(node)->slot)) {
            return true;
        }
    }
    return false;
}

rt_poll
rt__waiter_poll(struct rt_waiter *waiter, struct rt_waiters *waiters, struct rt_cx *cx,
        const char *reason, const struct rt_site *site, const struct rt_site *await)
{
    /* A waiter that is passed over may have had units for those after it. */
    rt_waiters_give(waiters, 0, await);
    if (waiter->state == RT_WAITER_GRANTED) {
        return finish(waiters, waiter, await);
    }
    struct rt_waiter *ahead = first(waiters);
    bool turn = has_turn(waiter, ahead);
    if (turn && ahead != NULL && ahead != waiter) {
        /* It has collected what was before it in the queue: two that collect would wait forever. */
        (void)strip(waiters, ahead);
    }
    if (turn && waiters->free >= missing(waiter)) {
        assign(waiters, waiter, missing(waiter));
        (void)finish(waiters, waiter, await);
        rt_waiters_give(waiters, 0, await);
        return RT_READY;
    }
    rt_budget_restore(cx);
    if (waiter->state != RT_WAITER_QUEUED) {
        join(waiters, waiter);
    }
    rt_slot_replace_at(&waiter->slot, cx, reason, site, await);
    if (turn) {
        assign(waiters, waiter, waiters->free);
    }
    rt_verify(is_sound(waiters));
    return RT_PENDING;
}

void
rt_waiter_leave(struct rt_waiter *waiter, struct rt_waiters *waiters, const struct rt_site *await)
{
    if (waiter->state == RT_WAITER_IDLE) {
        return;
    }
    bool granted = waiter->state == RT_WAITER_GRANTED;
    forget_passed(waiters, waiter);
    waiter->state = RT_WAITER_IDLE;
    rt_list_unlink(&waiter->link);
    uint32_t units = strip(waiters, waiter);
    if (granted) {
        RT_PROBE(UNGRANT, waiters->object, RT_HERE, await, units);
    }
    (void)rt_slot_clear_at(&waiter->slot, await);
    rt_waiters_give(waiters, 0, await);
}
