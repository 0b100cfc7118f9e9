/*
 * internal.h -- what channel.c and channel_futures.c share, and nobody else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_INTERNAL_H
#define RT_SYNC_INTERNAL_H

#include "runtime/sync/channel.h"

#define RT__CHANNEL_MAGIC 0x52434841u

/* Puts an item into a place that is the caller's. */
void rt__channel_push(struct rt_channel *channel, const void *item, const struct rt_site *await);

/* Takes the oldest item out for a caller to whom one was granted, and gives the room back. */
void rt__channel_pop(struct rt_channel *channel, void *ret_item, const struct rt_site *await);

/* Closed, and nothing is left to be read or to be passed on: the end. */
static inline bool
rt__channel_ended(const struct rt_channel *channel)
{
    return channel->closed && channel->count == 0;
}

#endif
