/*
 * oneshot.c -- a value, two marks for two sides that may be dropped, and one slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/oneshot.h"

#include "runtime/base/assert.h"
#include "runtime/task/budget.h"

#include "runtime/base/banned.h"

#define ONESHOT_MAGIC 0x524f4e45u

static const char *
audit(const struct rt_object *object)
{
    const struct rt_oneshot *oneshot = rt_container_of(object, struct rt_oneshot, object);
    bool decided = oneshot->sent || oneshot->sender_gone;
    return decided && rt_slot_awaited(&oneshot->receiver)
                   ? "the sender is done while the receiver sleeps"
                   : NULL;
}

static struct rt_oneshot_wait *
wait_of(struct rt_future *future)
{
    struct rt_oneshot_wait *wait = rt_container_of(future, struct rt_oneshot_wait, future);
    rt_check(&wait->oneshot->object, ONESHOT_MAGIC);
    return wait;
}

/* The result so far; RT_E_AGAIN: none yet. */
static rt_err
result(const struct rt_oneshot *oneshot)
{
    if (oneshot->taken) {
        return RT_E_TAKEN;
    }
    if (oneshot->sent) {
        return RT_OK;
    }
    return oneshot->sender_gone ? RT_E_CANCELLED : RT_E_AGAIN;
}

/* The slot is that of the last wait; one that was replaced leaves it alone. */
static void
leave(struct rt_oneshot_wait *wait)
{
    if (wait->oneshot->waiting == wait) {
        wait->oneshot->waiting = NULL;
        (void)rt_slot_clear_at(&wait->oneshot->receiver, wait->await);
    }
}

static rt_poll
poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_oneshot_wait *wait = wait_of(future);
    struct rt_oneshot *oneshot = wait->oneshot;
    RT_AWAIT(rt_budget_take_at(cx, wait->await));
    wait->err = result(oneshot);
    if (wait->err == RT_E_AGAIN) {
        rt_budget_restore(cx);
        oneshot->waiting = wait;
        rt_slot_replace_at(&oneshot->receiver, cx, "the one value", RT_HERE, wait->await);
        return RT_PENDING;
    }
    leave(wait);
    if (wait->err == RT_OK) {
        oneshot->taken = true;
        wait->value = oneshot->value;
        RT_PROBE(CONSUME, oneshot->object.id, RT_HERE, wait->await, 1);
    }
    return RT_READY;
}

static void
drop(struct rt_future *future)
{
    leave(wait_of(future));
}

void
rt_oneshot_init(struct rt_oneshot *oneshot)
{
    rt_assert(oneshot != NULL);
    *oneshot = (struct rt_oneshot){.object = {ONESHOT_MAGIC, RT_PROBE_OBJECT(CHANNEL)}};
    rt_slot_init(&oneshot->receiver);
    oneshot->receiver.owner = oneshot->object.id;
    RT_PROBE_AUDIT(&oneshot->object, audit);
}

/* The value that was not received, which is the caller's now. */
static void *
left_over(struct rt_oneshot *oneshot)
{
    if (oneshot->waiting != NULL) {
        rt_fault(RT_E_IN_USE, "oneshot", "it was ended while a task waits for its value");
    }
    bool left = oneshot->sent && !oneshot->taken;
    oneshot->taken = true;
    return left ? oneshot->value : NULL;
}

void *
rt_oneshot_fini(struct rt_oneshot *oneshot)
{
    rt_check(&oneshot->object, ONESHOT_MAGIC);
    void *value = left_over(oneshot);
    RT_PROBE_AUDIT(&oneshot->object, NULL);
    oneshot->object.magic = 0;
    return value;
}

rt_err
rt_oneshot_send_at(struct rt_oneshot *oneshot, void *value, const struct rt_site *await)
{
    rt_check(&oneshot->object, ONESHOT_MAGIC);
    if (oneshot->sender_gone) {
        rt_fault(RT_E_INVALID, "oneshot", "a second value was sent, or the sender was gone");
    }
    oneshot->sender_gone = true;
    if (oneshot->receiver_gone) {
        return RT_E_CLOSED;
    }
    oneshot->value = value;
    oneshot->sent = true;
    RT_PROBE(PUT, oneshot->object.id, RT_HERE, await, 1);
    (void)rt_slot_wake_at(&oneshot->receiver, await);
    return RT_OK;
}

void
rt_oneshot_drop_sender_at(struct rt_oneshot *oneshot, const struct rt_site *await)
{
    rt_check(&oneshot->object, ONESHOT_MAGIC);
    if (oneshot->sender_gone) {
        return;
    }
    oneshot->sender_gone = true;
    RT_PROBE(SHUT, oneshot->object.id, RT_HERE, await, 0);
    (void)rt_slot_wake_at(&oneshot->receiver, await);
}

void *
rt_oneshot_drop_receiver(struct rt_oneshot *oneshot)
{
    rt_check(&oneshot->object, ONESHOT_MAGIC);
    oneshot->receiver_gone = true;
    return left_over(oneshot);
}

void
rt_oneshot_wait_init_at(
        struct rt_oneshot_wait *wait, struct rt_oneshot *oneshot, const struct rt_site *await)
{
    rt_assert(wait != NULL);
    rt_check(&oneshot->object, ONESHOT_MAGIC);
    *wait = (struct rt_oneshot_wait){.oneshot = oneshot, .await = await, .err = RT_E_AGAIN};
    rt_future_init(&wait->future, poll, drop, "oneshot");
}

rt_poll
rt_oneshot_poll_at(struct rt_oneshot_wait *wait, struct rt_cx *cx, const struct rt_site *await)
{
    rt_assert(wait != NULL);
    wait->await = await;
    return rt_future_poll(&wait->future, cx);
}

void
rt_oneshot_wait_drop_at(struct rt_oneshot_wait *wait, const struct rt_site *await)
{
    rt_assert(wait != NULL);
    wait->await = await;
    rt_future_drop(&wait->future);
}
