/*
 * channel.c -- the ring, the counts, and how a channel ends.
 *
 * Invariant: count = items.free + items.assigned, and
 * capacity = count + room.free + room.assigned + permits, but for an item that is
 * being destroyed and whose capacity is not free yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/channel.h"

#include "runtime/base/assert.h"
#include "runtime/sync/internal.h"

#include "runtime/base/banned.h"

static void
check_channel(const struct rt_channel *channel)
{
    rt_check(&channel->object, RT__CHANNEL_MAGIC);
    rt_assert(channel->count == channel->items.free + channel->items.assigned);
}

static const char *
audit(const struct rt_object *object)
{
    const struct rt_channel *channel = rt_container_of(object, struct rt_channel, object);
    if (!channel->closed && channel->room.free > 0 && rt_waiters_queueing(&channel->room)) {
        return "the channel has capacity while a sender queues";
    }
    if (channel->items.free > 0 && rt_waiters_queueing(&channel->items)) {
        return "an item lies there while a receiver sleeps";
    }
    if (channel->closed && rt_waiters_queueing(&channel->room)) {
        return "the channel is closed while a sender sleeps";
    }
    if (rt__channel_ended(channel) && rt_waiters_queueing(&channel->items)) {
        return "the channel has ended while a receiver sleeps";
    }
    return NULL;
}

static void
destroy(const struct rt_channel *channel, const void *item)
{
    if (channel->config.destroy != NULL) {
        RT_PROBE(DESTROY, channel->object.id, RT_HERE, NULL, 0);
        channel->config.destroy(item, channel->config.argument);
    }
}

static void
reset(struct rt_channel *channel)
{
    channel->head = 0;
    channel->count = 0;
    channel->handles = 1;
    channel->closed = false;
    rt_waiters_init(&channel->room, channel->object.id, channel->config.capacity);
    rt_waiters_init(&channel->items, channel->object.id, 0);
}

void
rt_channel_init(struct rt_channel *channel, const struct rt_channel_config *config)
{
    rt_assert(channel != NULL);
    rt_assert(config->capacity > 0 && config->capacity <= RT_UNITS_MAX);
    rt_assert(config->ring != NULL || config->item_size == 0);
    *channel = (struct rt_channel){
            .object = {RT__CHANNEL_MAGIC, RT_PROBE_OBJECT(CHANNEL)},
            .config = *config,
    };
    reset(channel);
    RT_PROBE_AUDIT(&channel->object, audit);
}

/* Whether it is still in use (K13). */
static bool
referenced(const struct rt_channel *channel)
{
    return channel->handles != 0 || channel->senders != 0 || channel->receivers != 0 ||
           channel->permits != 0 || !rt_waiters_idle(&channel->room) ||
           !rt_waiters_idle(&channel->items);
}

void
rt_channel_fini(struct rt_channel *channel)
{
    check_channel(channel);
    if (referenced(channel)) {
        rt_fault(RT_E_IN_USE, "channel", "a channel was ended while it was still in use");
    }
    rt_assert(channel->count == 0);
    RT_PROBE_AUDIT(&channel->object, NULL);
    channel->object.magic = 0;
}

rt_err
rt_channel_reopen(struct rt_channel *channel)
{
    check_channel(channel);
    /* A future of the previous life still has its ticket, and could queue among the new ones. */
    if (referenced(channel) || channel->room.passed > 0 || channel->items.passed > 0) {
        return RT_E_IN_USE;
    }
    rt_assert(channel->count == 0);
    reset(channel);
    return RT_OK;
}

void
rt_channel_add_handle(struct rt_channel *channel)
{
    check_channel(channel);
    channel->handles++;
}

void
rt_channel_add_sender(struct rt_channel *channel)
{
    check_channel(channel);
    channel->senders++;
}

void
rt_channel_add_receiver(struct rt_channel *channel)
{
    check_channel(channel);
    channel->receivers++;
}

/* After a count went down: is it closed now (K3), and can its items still be read (K2)? */
static void
settle_counts(struct rt_channel *channel, const struct rt_site *await)
{
    if (channel->handles == 0 && (channel->senders == 0 || channel->receivers == 0)) {
        rt_channel_close_at(channel, await);
    }
    if (channel->handles == 0 && channel->receivers == 0) {
        (void)rt_channel_clear_at(channel, await);
    }
}

static void
one_less(struct rt_channel *channel, uint32_t *count, const struct rt_site *await)
{
    check_channel(channel);
    if (*count == 0) {
        rt_fault(RT_E_INVALID, "channel", "a side of a channel was dropped more often than added");
    }
    (*count)--;
    settle_counts(channel, await);
}

void
rt_channel_drop_handle_at(struct rt_channel *channel, const struct rt_site *await)
{
    one_less(channel, &channel->handles, await);
}

void
rt_channel_drop_sender_at(struct rt_channel *channel, const struct rt_site *await)
{
    one_less(channel, &channel->senders, await);
}

void
rt_channel_drop_receiver_at(struct rt_channel *channel, const struct rt_site *await)
{
    one_less(channel, &channel->receivers, await);
}

void
rt_channel_close_at(struct rt_channel *channel, const struct rt_site *await)
{
    check_channel(channel);
    if (channel->closed) {
        return;
    }
    channel->closed = true;
    RT_PROBE(SHUT, channel->object.id, RT_HERE, await, channel->count);
    (void)rt_waiters_wake_all(&channel->room, await);
    (void)rt_waiters_wake_all(&channel->items, await);
}

uint32_t
rt_channel_clear_at(struct rt_channel *channel, const struct rt_site *await)
{
    check_channel(channel);
    uint32_t count = channel->count;
    uint32_t at = channel->head;
    channel->head = rt__channel_after(channel, at, count);
    channel->count = 0;
    rt_waiters_revoke(&channel->items);
    /* Their capacity is not free yet: what is sent meanwhile is put after them. */
    for (uint32_t i = 0; i < count; i++) {
        destroy(channel, rt__channel_item_at(channel, rt__channel_after(channel, at, i)));
        rt__channel_free_slot(channel, await);
    }
    return count;
}

rt_err
rt_channel_try_send_at(struct rt_channel *channel, const void *item, const struct rt_site *await)
{
    check_channel(channel);
    if (channel->closed) {
        RT_PROBE(REFUSE, channel->object.id, RT_HERE, await, 0);
        return RT_E_CLOSED;
    }
    if (!rt_waiters_take(&channel->room, 1)) {
        RT_PROBE(REFUSE, channel->object.id, RT_HERE, await, 0);
        return RT_E_FULL;
    }
    rt__channel_push(channel, item, await);
    return RT_OK;
}

rt_err
rt_channel_try_recv_at(struct rt_channel *channel, void *ret_item, const struct rt_site *await)
{
    check_channel(channel);
    if (rt__channel_ended(channel)) {
        RT_PROBE(REFUSE, channel->object.id, RT_HERE, await, 0);
        return RT_E_CLOSED;
    }
    if (!rt_waiters_take(&channel->items, 1)) {
        RT_PROBE(REFUSE, channel->object.id, RT_HERE, await, 0);
        return RT_E_AGAIN;
    }
    rt__channel_pop(channel, ret_item, await);
    return RT_OK;
}

static void
return_permit(struct rt_channel *channel, const struct rt_site *await)
{
    rt_assert(channel->permits > 0);
    channel->permits--;
    rt__channel_free_slot(channel, await);
}

rt_err
rt_permit_commit_at(struct rt_permit *permit, const void *item, const struct rt_site *await)
{
    struct rt_channel *channel = permit->channel;
    if (channel == NULL) {
        rt_fault(RT_E_FINISHED, "permit", "a permit was used that is used up");
    }
    check_channel(channel);
    permit->channel = NULL;
    if (channel->closed) {
        destroy(channel, item);
        return_permit(channel, await);
        return RT_E_CLOSED;
    }
    channel->permits--;
    rt__channel_push(channel, item, await);
    return RT_OK;
}

void
rt_permit_drop_at(struct rt_permit *permit, const struct rt_site *await)
{
    struct rt_channel *channel = permit->channel;
    if (channel == NULL) {
        return;
    }
    check_channel(channel);
    permit->channel = NULL;
    return_permit(channel, await);
}
