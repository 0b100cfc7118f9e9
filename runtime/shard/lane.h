/*
 * lane.h -- a bounded queue from one thread to one other.
 *
 *      head                tail (published)   staged
 *       │                   │                  │
 *  ┌────▼──┬───────┬───────┬▼──────┬───────┬───▼───┬───────┐
 *  │ taken │ taken │ taken │ new   │ new   │ free  │ free  │   places, by number & mask
 *  └───────┴───────┴───────┴───────┴───────┴───────┴───────┘
 *
 * Only the sender moves `tail`, only the receiver moves `head`. Both are counts that
 * never wrap: 64 bits last longer than the machine, and "full" and "empty" cannot
 * be confused. A message is invisible to the receiver before it is published, so that a
 * batch costs one store that the other side has to fetch.
 *
 * Ownership. Borrows its places for its life, and each message from put to take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_LANE_H
#define RT_SHARD_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_message;

#define RT_CACHE_LINE 64

struct rt_lane {
    struct rt_message **places;
    uint64_t capacity;
    /* The sender's cache line. */
    char before_sender[RT_CACHE_LINE];
    RT_ATOMIC(uint64_t) tail;
    uint64_t staged;    /* Put in up to here; `tail` follows at the next publish. */
    uint64_t head_seen; /* The receiver's head, when it was last loaded. */
    /* The receiver's cache line. */
    char before_receiver[RT_CACHE_LINE];
    RT_ATOMIC(uint64_t) head;
    uint64_t tail_seen;
};

/* Makes an empty lane over `capacity` places, a power of two and at least 1. */
void rt_lane_init(struct rt_lane *lane, struct rt_message **places, uint32_t capacity);

/* The sender's: appends `message`, to be published. False: the lane is full. */
bool rt_lane_put(struct rt_lane *lane, struct rt_message *message);

/* The sender's: makes the messages put since the last publish visible to the receiver. */
void rt_lane_publish(struct rt_lane *lane);

/* The sender's: whether a put would succeed now. */
bool rt_lane_has_room(struct rt_lane *lane);

/* The receiver's: takes the oldest message that is published; NULL when there is none. */
struct rt_message *rt_lane_take(struct rt_lane *lane);

/* How many messages are published and not taken. Exact when the caller stops both sides. */
uint32_t rt_lane_count(const struct rt_lane *lane);

#ifdef __cplusplus
}
#endif
#endif
