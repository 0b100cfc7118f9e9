/*
 * reactor.c -- registering waits, and the turn that wakes them.
 *
 * A turn has three parts, and only the list of waits itself is kept from one to the
 * next, for the host and the wakers may do anything meanwhile:
 *
 *   1. The list: one entry for each pollable with a pending wait.
 *   2. The host's poll. Its answer is keys; those that went stale name nothing any more.
 *   3. The waits of what was reported are marked, all of them, and then woken one by one. A wait
 *      registered during the wakes is not marked, one cancelled is not there (R8, R9).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/reactor.h"

#include <stddef.h>

#include "runtime/runtime.h"

#include "runtime/base/banned.h"

#define REACTOR_MAGIC 0x52524541u

static void
check_reactor(const struct rt_reactor *reactor)
{
    rt_check(reactor, REACTOR_MAGIC);
}

static void
verify(const struct rt_reactor *reactor)
{
#ifdef RT_VERIFY
    rt_reactor_audit(reactor);
#else
    (void)reactor;
#endif
}

static struct rt_wait *
wait_of(struct rt_list *link)
{
    return rt_container_of(link, struct rt_wait, link);
}

static bool
same_key(struct rt_key a, struct rt_key b)
{
    return a.index == b.index && a.generation == b.generation;
}

static bool
pending(const struct rt_wait *wait)
{
    return !rt_slot_empty(&wait->slot);
}

/* The last registered wait for `pollable`, or NULL. Newest first: sharing is mostly recent. */
static struct rt_wait *
last_wait_for(const struct rt_reactor *reactor, const struct rt_pollable *pollable)
{
    for (struct rt_list *link = reactor->waits.prev; link != &reactor->waits; link = link->prev) {
        struct rt_wait *wait = wait_of(link);
        if (wait->pollable == pollable) {
            return wait;
        }
    }
    return NULL;
}

/* Whether the wait at `link`, or the head of the list, is one for the pollable named `key`. */
static bool
is_for(const struct rt_reactor *reactor, struct rt_list *link, struct rt_key key)
{
    return link != &reactor->waits && same_key(wait_of(link)->key, key);
}

/* ---- Registration. --------------------------------------------------------------------------- */

/* A pollable without a wait so far: it gets a key, and its first wait goes to the end. */
static void
link_first(struct rt_reactor *reactor, struct rt_wait *wait, const struct rt_cx *cx)
{
    if (rt_poller_insert(&reactor->poller, wait->pollable, &wait->key) != RT_OK) {
        rt_fault(RT_E_FULL, cx->task->name, "more pollables are waited for than the reactor holds");
    }
    rt_list_push_back(&reactor->waits, &wait->link);
}

static void
enter(struct rt_reactor *reactor, struct rt_wait *wait, struct rt_pollable *pollable,
        const struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(wait->reactor == NULL);
    rt_assert(rt_list_empty(&wait->link));
    struct rt_wait *before = last_wait_for(reactor, pollable);
    wait->pollable = pollable;
    if (before == NULL) {
        link_first(reactor, wait, cx);
    } else {
        wait->key = before->key;
        rt_list_push_front(&before->link, &wait->link);
    }
    wait->reactor = reactor;
    wait->marked = false;
    wait->slot.owner = pollable->object.id;
    reactor->waiting++;
    RT_PROBE(WAIT, pollable->object.id, RT_HERE, await, 0);
}

/* Takes a registered wait out; the last one for its pollable takes the key with it (R3). */
static void
leave(struct rt_wait *wait, const struct rt_site *await)
{
    struct rt_reactor *reactor = wait->reactor;
    rt_assert(reactor->waiting > 0);
    bool shared = is_for(reactor, wait->link.prev, wait->key) ||
                  is_for(reactor, wait->link.next, wait->key);
    if (!shared) {
        rt_err err = rt_poller_remove(&reactor->poller, wait->key);
        rt_assert(err == RT_OK);
    }
    if (reactor->waking == &wait->link) {
        reactor->waking = wait->link.next;
    }
    rt_list_unlink(&wait->link);
    reactor->waiting--;
    wait->reactor = NULL;
    wait->marked = false;
    RT_PROBE(UNWAIT, wait->pollable->object.id, RT_HERE, await, 0);
    /* Last, and with the wait out of everything: the drop of a foreign waker may re-enter. */
    (void)rt_slot_clear_at(&wait->slot, await);
}

static struct rt_reactor *
reactor_of(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    if (cx->runtime == NULL) {
        rt_fault(RT_E_INVALID, cx->task->name, "a bare executor has no reactor to wait in");
    }
    check_reactor(&cx->runtime->reactor);
    return &cx->runtime->reactor;
}

void
rt_wait_init(struct rt_wait *wait)
{
    rt_assert(wait != NULL);
    *wait = (struct rt_wait){.reactor = NULL};
    rt_list_init(&wait->link);
    rt_slot_init(&wait->slot);
}

rt_poll
rt_wait_for_at(struct rt_wait *wait, struct rt_pollable *pollable, struct rt_cx *cx,
        const struct rt_site *await)
{
    rt_assert(wait != NULL);
    rt_assert(pollable != NULL);
    struct rt_reactor *reactor = reactor_of(cx);
    if (wait->reactor != reactor || wait->pollable != pollable) {
        rt_wait_cancel_at(wait, await);
    }
    RT_AWAIT(rt_budget_take_at(cx, await));
    if (rt_pollable_ready(pollable)) {
        rt_wait_cancel_at(wait, await);
        return RT_READY;
    }
    rt_budget_restore(cx);
    if (wait->reactor == NULL) {
        enter(reactor, wait, pollable, cx, await);
    }
    rt_slot_replace_at(&wait->slot, cx, "pollable", RT_HERE, await);
    verify(reactor);
    return RT_PENDING;
}

void
rt_wait_cancel_at(struct rt_wait *wait, const struct rt_site *await)
{
    rt_assert(wait != NULL);
    struct rt_reactor *reactor = wait->reactor;
    if (reactor == NULL) {
        return;
    }
    check_reactor(reactor);
    leave(wait, await);
    verify(reactor);
}

/* ---- The turn. ------------------------------------------------------------------------------- */

/* Part 1. Waits of one pollable are adjacent, so an entry is there already if it is the last. */
static uint32_t
list_waits(struct rt_reactor *reactor)
{
    struct rt_poller *poller = &reactor->poller;
    uint32_t count = 0;
    struct rt_key last = {0, 0};
    rt_poller_list_clear(poller);
    rt_list_each(link, &reactor->waits)
    {
        const struct rt_wait *wait = wait_of(link);
        if (pending(wait) && !same_key(wait->key, last)) {
            rt_err err = rt_poller_list_add(poller, wait->key);
            rt_assert(err == RT_OK);
            last = wait->key;
            count++;
        }
    }
    return count;
}

static rt_err
list_extra(struct rt_reactor *reactor, enum rt_turn_mode mode, struct rt_pollable *const *extra,
        uint32_t extra_count)
{
    for (uint32_t i = 0; i < extra_count; i++) {
        rt_poller_list_add_extra(&reactor->poller, extra[i]);
    }
    if (mode == RT_TURN_BLOCK) {
        return RT_OK;
    }
    if (reactor->at_once.host == NULL) {
        rt_err err = rt_subscribe_duration(reactor->poller.host, 0, &reactor->at_once);
        if (err != RT_OK) {
            return err;
        }
    }
    rt_poller_list_add_extra(&reactor->poller, &reactor->at_once);
    return RT_OK;
}

/*
 * Part 3, first half. The answer is in the order of the list, and so of the waits: one walk finds
 * all. A key whose pollable has no wait any more is passed over.
 */
static void
mark(struct rt_reactor *reactor, uint32_t ready)
{
    struct rt_list *link = reactor->waits.next;
    for (uint32_t i = 0; i < ready; i++) {
        struct rt_key key = reactor->keys[i];
        if (rt_poller_get(&reactor->poller, key) == NULL) {
            continue;
        }
        while (!is_for(reactor, link, key)) {
            rt_assert(link != &reactor->waits);
            link = link->next;
        }
        for (; is_for(reactor, link, key); link = link->next) {
            wait_of(link)->marked = true;
        }
    }
}

/* Part 3, second half. `waking` advances before each wake, and in leave() when its wait goes. */
static uint32_t
wake_marked(struct rt_reactor *reactor, const struct rt_site *await)
{
    uint32_t woken = 0;
    reactor->waking = reactor->waits.next;
    while (reactor->waking != &reactor->waits) {
        struct rt_wait *wait = wait_of(reactor->waking);
        rt_assert(wait->reactor == reactor);
        reactor->waking = reactor->waking->next;
        bool reported = wait->marked && pending(wait);
        wait->marked = false;
        if (reported && rt_slot_wake_at(&wait->slot, await)) {
            woken++;
        }
    }
    reactor->waking = NULL;
    return woken;
}

/* Parts 2 and 3, with the list built. */
static rt_err
ask(struct rt_reactor *reactor, uint32_t *ret_woken, const struct rt_site *await)
{
    uint32_t ready = 0;
    RT_PROBE(TURN, 0, RT_HERE, await, reactor->poller.count);
    rt_err err = rt_poller_poll(&reactor->poller, reactor->keys, &ready);
    if (err != RT_OK) {
        return err;
    }
    RT_PROBE(TURNED, 0, RT_HERE, await, ready);
    mark(reactor, ready);
    *ret_woken = wake_marked(reactor, await);
    return RT_OK;
}

static rt_err
turn(struct rt_reactor *reactor, enum rt_turn_mode mode, struct rt_pollable *const *extra,
        uint32_t extra_count, uint32_t *ret_woken, const struct rt_site *await)
{
    uint32_t waited_for = list_waits(reactor);
    if (mode == RT_TURN_POLL && waited_for == 0) {
        *ret_woken = 0;
        return RT_OK;
    }
    if (waited_for == 0 && extra_count == 0) {
        return RT_E_DEADLOCK;
    }
    rt_err err = list_extra(reactor, mode, extra, extra_count);
    return err != RT_OK ? err : ask(reactor, ret_woken, await);
}

rt_err
rt_reactor_turn_at(struct rt_reactor *reactor, enum rt_turn_mode mode,
        struct rt_pollable *const *extra, uint32_t extra_count, uint32_t *ret_woken,
        const struct rt_site *await)
{
    check_reactor(reactor);
    rt_assert(extra_count < RT_POLLER_EXTRA);
    rt_assert(ret_woken != NULL);
    if (reactor->turning) {
        return RT_E_REENTERED;
    }
    reactor->turning = true;
    rt_err err = turn(reactor, mode, extra, extra_count, ret_woken, await);
    reactor->turning = false;
    verify(reactor);
    return err;
}

/* ---- The whole. ------------------------------------------------------------------------------ */

void
rt_reactor_init(
        struct rt_reactor *reactor, struct rt_host *host, const struct rt_reactor_config *config)
{
    rt_assert(reactor != NULL);
    rt_assert(config->keys != NULL || config->poller.capacity == 0);
    *reactor = (struct rt_reactor){.magic = REACTOR_MAGIC, .keys = config->keys};
    rt_poller_init(&reactor->poller, host, &config->poller);
    rt_list_init(&reactor->waits);
}

void
rt_reactor_fini(struct rt_reactor *reactor)
{
    check_reactor(reactor);
    rt_assert(!reactor->turning);
    if (reactor->waiting != 0) {
        rt_fault(RT_E_IN_USE, "reactor", "a reactor was ended while waits were registered");
    }
    rt_pollable_drop(&reactor->at_once);
    reactor->magic = 0;
}

uint32_t
rt_reactor_waiting(const struct rt_reactor *reactor)
{
    check_reactor(reactor);
    return reactor->waiting;
}

bool
rt_reactor_ready(const struct rt_reactor *reactor)
{
    check_reactor(reactor);
    struct rt_key last = {0, 0};
    rt_list_each(link, &reactor->waits)
    {
        const struct rt_wait *wait = wait_of(link);
        if (!pending(wait) || same_key(wait->key, last)) {
            continue;
        }
        if (rt_pollable_ready(wait->pollable)) {
            return true;
        }
        last = wait->key;
    }
    return false;
}

static void
audit_wait(const struct rt_reactor *reactor, const struct rt_wait *wait)
{
    rt_assert(wait->reactor == reactor);
    rt_assert(wait->pollable != NULL);
    rt_assert(rt_poller_get(&reactor->poller, wait->key) == wait->pollable);
    rt_assert(rt_slot_empty(&wait->slot) == rt_list_empty(&wait->slot.task_link));
    rt_assert(!wait->marked || reactor->turning);
}

void
rt_reactor_audit(const struct rt_reactor *reactor)
{
    check_reactor(reactor);
    rt_slab_audit(&reactor->poller.slab);
    uint32_t waits = 0;
    uint32_t groups = 0;
    rt_list_each(link, &reactor->waits)
    {
        audit_wait(reactor, wait_of(link));
        groups += is_for(reactor, link->prev, wait_of(link)->key) ? 0 : 1;
        waits++;
    }
    rt_assert(waits == reactor->waiting);
    /* As many groups as keys: then no key has two groups. */
    rt_assert(groups == reactor->poller.slab.used);
    rt_assert(reactor->waking == NULL || reactor->turning);
}
