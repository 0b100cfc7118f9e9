/*
 * reply.c -- the answer of a host function that is not there yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/fiber/reply.h"

#include "runtime/fiber/internal.h"

#include "runtime/base/banned.h"

#define RT_REPLY_MAGIC 0x5250594cu

static void
check_reply(const struct rt_reply *reply)
{
    rt_assert(reply != NULL);
    if (__builtin_expect(reply->object.magic != RT_REPLY_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a reply was used that rt_reply_init never made");
    }
}

/* ---- The guest's side: the continuation. ----------------------------------------------------- */

static bool
is_complete(void *env)
{
    const struct rt_reply *reply = env;
    check_reply(reply);
    return reply->complete;
}

static void
detach(void *env)
{
    struct rt_reply *reply = env;
    check_reply(reply);
    if (reply->complete) {
        RT_PROBE(CONSUME, reply->object.id, RT_HERE, reply->await, 1);
    }
    reply->host = NULL;
}

/* ---- The driver's side: the future. ---------------------------------------------------------- */

static struct rt_reply *
reply_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_reply, future);
}

static rt_poll
reply_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_reply *reply = reply_of(future);
    if (reply->complete) {
        (void)rt_slot_clear_at(&reply->slot, reply->await);
        return RT_READY;
    }
    rt_slot_replace_at(&reply->slot, cx, reply->what, RT_HERE, reply->await);
    return RT_PENDING;
}

static void
reply_drop(struct rt_future *future)
{
    struct rt_reply *reply = reply_of(future);
    (void)rt_slot_clear_at(&reply->slot, reply->await);
}

static const char *
reply_audit(const struct rt_object *object)
{
    const struct rt_reply *reply = rt_container_of(object, struct rt_reply, object);
    if (reply->complete && !rt_slot_empty(&reply->slot)) {
        return "an answer is there, and the task that waits for it was not woken";
    }
    return NULL;
}

/* ---- The operation's side. ------------------------------------------------------------------- */

void
rt_reply_init(struct rt_reply *reply, const char *what)
{
    rt_assert(reply != NULL);
    rt_assert(what != NULL);
    *reply = (struct rt_reply){
            .object = {RT_REPLY_MAGIC, RT_PROBE_OBJECT(OPERATION)},
            .complete = true,
            .what = what,
    };
    rt_slot_init(&reply->slot);
    reply->slot.owner = reply->object.id;
    RT_PROBE_AUDIT(&reply->object, reply_audit);
}

void
rt_reply_begin_at(struct rt_reply *reply, struct rt_host_call *host, const struct rt_site *await)
{
    check_reply(reply);
    rt_assert(host != NULL);
    if (!reply->complete || reply->host != NULL) {
        rt_fault(RT_E_BUSY, reply->what, "a reply was begun that is in use");
    }
    RT_PROBE(SUBMIT, reply->object.id, RT_HERE, await, 0);
    reply->complete = false;
    reply->host = host;
    reply->await = await;
    rt_future_init(&reply->future, reply_poll, reply_drop, reply->what);
    host->continuation = (struct rt_continuation){is_complete, detach, reply};
    rt_store_set_pending(host->guest->store, &reply->future);
}

static void
write(struct rt_host_call *host, const uint64_t *results, uint32_t count, enum rt_trap trap)
{
    for (uint32_t i = 0; i < count; i++) {
        host->results[i] = results[i];
    }
    host->trap = trap;
}

bool
rt_reply_complete_at(struct rt_reply *reply, const uint64_t *results, uint32_t count,
        enum rt_trap trap, const struct rt_site *await)
{
    check_reply(reply);
    if (reply->complete) {
        rt_fault(RT_E_FINISHED, reply->what, "a reply was completed twice, or never begun");
    }
    reply->complete = true;
    RT_PROBE(DONE, reply->object.id, RT_HERE, await, (uint64_t)trap);
    if (reply->host == NULL) {
        return false;
    }
    write(reply->host, results, count, trap);
    struct rt_store *store = reply->host->guest->store;
    if (store->pending == &reply->future) {
        (void)rt_store_take_pending(store);
    }
    (void)rt_slot_wake_at(&reply->slot, await);
    return true;
}
