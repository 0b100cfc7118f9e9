/*
 * submit.c -- a call on another shard as a future.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/submit.h"

#include "runtime/shard/internal.h"

#include "runtime/base/banned.h"

static struct rt_submit *
submit_of(struct rt_future *future)
{
    return rt_container_of(future, struct rt_submit, future);
}

static rt_poll
submit_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct rt_submit *submit = submit_of(future);
    if (rt_submit_is_over(submit)) {
        (void)rt_slot_clear(&submit->slot);
        return RT_READY;
    }
    rt_slot_replace(&submit->slot, cx, "an answer from another shard");
    return RT_PENDING;
}

/* The message continues; only the wake at its return is dropped. */
static void
submit_drop(struct rt_future *future)
{
    (void)rt_slot_clear(&submit_of(future)->slot);
}

/* On the origin, from its loop. */
static void
submit_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct rt_submit *submit = rt_container_of(message, struct rt_submit, message);
    (void)shard;
    (void)rt_slot_wake(&submit->slot);
}

bool
rt_submit_is_over(const struct rt_submit *submit)
{
    rt_assert(submit != NULL);
    return rt_message_is_idle(&submit->message);
}

void
rt_submit_to_at(struct rt_submit *submit, struct rt_shard *origin, uint32_t to, rt_message_fn call,
        const struct rt_site *await)
{
    rt_assert(submit != NULL);
    rt_future_init(&submit->future, submit_poll, submit_drop, "submit");
    rt_message_init(&submit->message, call, submit_answered);
    rt_slot_init(&submit->slot);
    submit->slot.owner = submit->message.object.id;
    rt_err err = rt_message_send_at(&submit->message, origin, to, await);
    if (err != RT_OK) {
        submit->message.result = err;
    }
}
