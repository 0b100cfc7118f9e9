/*
 * readiness.c -- four rules about two words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/readiness.h"

#include "runtime/base/assert.h"
#include "runtime/io/net.h"

#include "runtime/base/banned.h"

void
rt_readiness_event(struct rt_readiness *readiness, uint32_t bits)
{
    rt_assert(readiness != NULL);
    rt_assert(bits != 0);
    rt_assert(bits <= UINT8_MAX);
    readiness->bits |= (uint8_t)bits;
    readiness->tick++;
}

bool
rt_readiness_look(const struct rt_readiness *readiness, struct rt_seen *ret_seen)
{
    rt_assert(readiness != NULL);
    ret_seen->bits = readiness->bits;
    ret_seen->tick = readiness->tick;
    return readiness->bits != 0;
}

bool
rt_readiness_clear(struct rt_readiness *readiness, struct rt_seen seen)
{
    rt_assert(readiness != NULL);
    rt_assert(seen.tick <= readiness->tick);
    if (seen.tick == readiness->tick) {
        readiness->bits &= RT_READY_FINAL;
    }
    return readiness->bits == 0;
}

/* What concerns both directions, whatever was asked for (E3). */
static uint32_t
of_both(uint32_t events)
{
    uint32_t bits = (events & RT_NET_ERROR) != 0 ? RT_READY_ERROR : 0;
    return (events & RT_NET_HANGUP) != 0 ? bits | RT_READY_CLOSED : bits;
}

uint32_t
rt_readiness_of(uint32_t events, enum rt_direction direction)
{
    rt_assert((events & ~RT_NET_EVENTS) == 0);
    bool reading = direction == RT_DIRECTION_READ;
    uint32_t available = reading ? RT_NET_READABLE : RT_NET_WRITABLE;
    uint32_t closed = reading ? RT_NET_READ_CLOSED : RT_NET_WRITE_CLOSED;
    uint32_t bits = of_both(events);
    bits |= (events & available) != 0 ? RT_READY_AVAILABLE : 0;
    bits |= (events & closed) != 0 ? RT_READY_CLOSED : 0;
    return bits;
}
