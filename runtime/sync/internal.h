/*
 * internal.h -- the path of an item, for channel.c and channel_futures.c alone.
 *
 * In a header because every item goes through it twice; everything else about a
 * channel is in channel.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_INTERNAL_H
#define RT_SYNC_INTERNAL_H

#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/sync/channel.h"

#define RT__CHANNEL_MAGIC 0x52434841u

/* Closed, and nothing is left to be read or to be passed on: the end. */
static inline bool
rt__channel_ended(const struct rt_channel *channel)
{
    return channel->closed && channel->count == 0;
}

/* The index in the ring that is `steps` after `from`. */
static inline uint32_t
rt__channel_after(const struct rt_channel *channel, uint32_t from, uint32_t steps)
{
    uint32_t to_wrap = channel->config.capacity - from;
    return steps < to_wrap ? from + steps : steps - to_wrap;
}

static inline void *
rt__channel_item_at(const struct rt_channel *channel, uint32_t at)
{
    rt_assert(at < channel->config.capacity);
    return (unsigned char *)channel->config.ring + (size_t)at * channel->config.item_size;
}

/* Most items are a pointer or a number, and a call of memcpy costs more than to move one. */
static inline void
rt__channel_copy(const struct rt_channel *channel, void *to, const void *from, bool sends)
{
    uint32_t size = channel->config.item_size;
    RT_PROBE_MOVES(to, from, size, sends);
    if (size == sizeof(uint64_t)) {
        memcpy(to, from, sizeof(uint64_t));
    } else if (size > 0) {
        memcpy(to, from, size);
    }
}

/* Every path that frees capacity ends here, so that none forgets the senders, or the receivers
 * that wait for the last item of a closed channel to be taken or passed on. */
static inline void
rt__channel_free_slot(struct rt_channel *channel, const struct rt_site *await)
{
    rt_waiters_give(&channel->room, 1, await);
    if (rt__channel_ended(channel)) {
        (void)rt_waiters_wake_all(&channel->items, await);
    }
}

/* Puts an item into capacity that is the caller's. */
static inline void
rt__channel_push(struct rt_channel *channel, const void *item, const struct rt_site *await)
{
    rt_assert(channel->count < channel->config.capacity);
    uint32_t at = rt__channel_after(channel, channel->head, channel->count);
    rt__channel_copy(channel, rt__channel_item_at(channel, at), item, true);
    channel->count++;
    RT_PROBE(PUT, channel->object.id, RT_HERE, await, 1);
    rt_waiters_give(&channel->items, 1, await);
}

/* Takes the oldest item out for a caller that was granted one, and frees its capacity. */
static inline void
rt__channel_pop(struct rt_channel *channel, void *ret_item, const struct rt_site *await)
{
    rt_assert(channel->count > 0);
    rt__channel_copy(channel, ret_item, rt__channel_item_at(channel, channel->head), false);
    channel->head = rt__channel_after(channel, channel->head, 1);
    channel->count--;
    RT_PROBE(CONSUME, channel->object.id, RT_HERE, await, 1);
    rt__channel_free_slot(channel, await);
}

#endif
