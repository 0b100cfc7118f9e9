/*
 * pipe.h -- bytes on their way, and bytes that have arrived, in one ring.
 *
 *      ┌────────── size ──────────┐
 *      │ there │ flying │  room   │     head at the left of `there`, round the end
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
    uint32_t flying; /* Behind those that are there. */
};

/* Where the byte `distance` behind the head lies. */
static inline uint32_t
sim__pipe_place(const struct sim__pipe *pipe, uint32_t distance)
{
    uint32_t size = pipe->size;
    return (pipe->head + distance) % size;
}

static inline uint32_t
sim__pipe_room(const struct sim__pipe *pipe)
{
    return pipe->size - pipe->there - pipe->flying;
}

/* Sends `size` bytes behind all others. */
static inline void
sim__pipe_put(struct sim__pipe *pipe, const char *from, uint32_t size)
{
    rt_assert(size <= sim__pipe_room(pipe));
    uint32_t used = pipe->there + pipe->flying;
    for (uint32_t i = 0; i < size; i++) {
        pipe->bytes[sim__pipe_place(pipe, used + i)] = from[i];
    }
    pipe->flying += size;
}

/* The first `size` that fly are there. */
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
