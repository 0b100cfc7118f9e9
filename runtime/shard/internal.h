/*
 * internal.h -- shared by the files of this folder only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_INTERNAL_H
#define RT_SHARD_INTERNAL_H

#include "runtime/base/assert.h"
#include "runtime/shard/shard.h"

#define RT__SHARD_MAGIC 0x52534844u
#define RT__SHARDS_MAGIC 0x52534853u
#define RT__MESSAGE_MAGIC 0x524d5347u

static inline struct rt_pipe *
rt__pipe(const struct rt_shards *shards, uint32_t from, uint32_t to)
{
    rt_assert(from < shards->count && to < shards->count);
    return &shards->pipes[from * shards->count + to];
}

/* Whether the caller is on the thread of `shard`; else fault RT_E_FOREIGN. */
void rt__shard_check_here(const struct rt_shard *shard, const char *what);

/* Something was put where `shard` will check: ends its sleep, if it sleeps (X4). Any thread. */
void rt__shard_tell(struct rt_shard *shard);

/* message.c: it has been taken out of the lane, or out of the aliens' inbox. */
void rt__message_taken(struct rt_message *message, struct rt_shard *shard);

/* remote.c: every cell with a request; false when there was none. */
bool rt__remote_take_in(struct rt_shard *shard);
void rt__remote_init(struct rt_shard *shard);

#endif
