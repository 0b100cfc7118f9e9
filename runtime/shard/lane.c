/*
 * lane.c -- a bounded queue from one thread to one other.
 *
 * Orders. A count is stored with release when the places before it have been
 * written or read, and loaded with acquire by the other side before it touches
 * them. Each side reads its own count relaxed: only it writes that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/lane.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

void
rt_lane_init(struct rt_lane *lane, struct rt_message **places, uint32_t capacity)
{
    rt_assert(lane != NULL);
    rt_assert(places != NULL);
    rt_assert(capacity != 0 && (capacity & (capacity - 1)) == 0);
    lane->places = places;
    lane->capacity = capacity;
    atomic_init(&lane->tail, 0);
    atomic_init(&lane->head, 0);
    lane->staged = 0;
    lane->head_seen = 0;
    lane->tail_seen = 0;
}

static struct rt_message **
place(struct rt_lane *lane, uint64_t number)
{
    return &lane->places[number & (lane->capacity - 1)];
}

bool
rt_lane_has_room(struct rt_lane *lane)
{
    if (lane->staged - lane->head_seen < lane->capacity) {
        return true;
    }
    /* Acquire: the receiver has read its places before it marks them free. */
    lane->head_seen = atomic_load_explicit(&lane->head, memory_order_acquire);
    rt_assert(lane->head_seen <= lane->staged);
    return lane->staged - lane->head_seen < lane->capacity;
}

bool
rt_lane_put(struct rt_lane *lane, struct rt_message *message)
{
    rt_assert(message != NULL);
    if (!rt_lane_has_room(lane)) {
        return false;
    }
    *place(lane, lane->staged) = message;
    lane->staged++;
    return true;
}

void
rt_lane_publish(struct rt_lane *lane)
{
    /* Release: the places, and the messages' contents, before the count that publishes them. */
    atomic_store_explicit(&lane->tail, lane->staged, memory_order_release);
}

struct rt_message *
rt_lane_take(struct rt_lane *lane)
{
    /* Relaxed: our own. */
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    if (head == lane->tail_seen) {
        /* Acquire: what the sender wrote before it published. */
        lane->tail_seen = atomic_load_explicit(&lane->tail, memory_order_acquire);
        if (head == lane->tail_seen) {
            return NULL;
        }
    }
    rt_assert(lane->tail_seen - head <= lane->capacity);
    struct rt_message *message = *place(lane, head);
    /* Release: the place is read before the sender may write it again. */
    atomic_store_explicit(&lane->head, head + 1, memory_order_release);
    return message;
}

uint32_t
rt_lane_count(const struct rt_lane *lane)
{
    /* Acquire, both: a shard that finds a message takes it, one that finds none goes to sleep. */
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&lane->tail, memory_order_acquire);
    return (uint32_t)(tail - head);
}
