/*
 * pipe.h -- bytes that have arrived, and bytes in flight, in one ring.
 *
 *      ┌────────── size ──────────┐
 *      │ there │ flying │  space  │     head at the left of `there`; wraps at the end
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_HOST_PIPE_H
#define SIM_HOST_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/assert.h"

struct sim__pipe {
    char *bytes;
    uint32_t size;
    uint32_t head;
    uint32_t there;
    uint32_t flying; /* After those that are there. */
};

/* The index of the byte `distance` after the head. */
static inline uint32_t
sim__pipe_place(const struct sim__pipe *pipe, uint32_t distance)
{
    uint32_t size = pipe->size;
    return (pipe->head + distance) % size;
}

static inline uint32_t
sim__pipe_space(const struct sim__pipe *pipe)
{
    return pipe->size - pipe->there - pipe->flying;
}

/* Sends `size` bytes after all others. */
static inline void
sim__pipe_put(struct sim__pipe *pipe, const char *from, uint32_t size)
{
    rt_assert(size <= sim__pipe_space(pipe));
    uint32_t used = pipe->there + pipe->flying;
    for (uint32_t i = 0; i < size; i++) {
        pipe->bytes[sim__pipe_place(pipe, used + i)] = from[i];
    }
    pipe->flying += size;
}

/* The first `size` bytes in flight arrive. */
static inline void
sim__pipe_land(struct sim__pipe *pipe, uint64_t size)
{
    rt_assert(size <= pipe->flying);
    pipe->flying -= (uint32_t)size;
    pipe->there += (uint32_t)size;
}

static inline void
sim__pipe_take(struct sim__pipe *pipe, char *to, uint32_t size)
{
    rt_assert(size <= pipe->there);
    for (uint32_t i = 0; i < size; i++) {
        to[i] = pipe->bytes[sim__pipe_place(pipe, i)];
    }
    pipe->head = sim__pipe_place(pipe, size);
    pipe->there -= size;
}

#endif
