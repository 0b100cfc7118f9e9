/*
 * access.c -- operations as events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/atomic/access.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/world_priv.h"

/* Memory that was never written has another byte in a replica. That it is read is no difference: an
 * exchange reads it and forgets it. */
static uint64_t
usual(const struct sim_world *world, uint64_t value)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    const uint64_t fill = each * world->arena.fill;
    return value == fill             ? each * SIM_ARENA_FILL
           : value == (uint32_t)fill ? (uint32_t)(each * SIM_ARENA_FILL)
                                     : value;
}

/* Of a freed block each byte is the fill. Here a whole word must be, as a byte is so by chance. */
void
sim__atomic_check_freed(const volatile void *object)
{
    const struct sim_arena *arena = &sim_thread_now->actor.world->arena;
    const uint64_t each = UINT64_C(0x0101010101010101);
    const char *first = arena->base + ((const volatile char *)object - arena->base) / 8 * 8;
    uint64_t word;
    memcpy(&word, first, sizeof(word));
    if (word == each * arena->fill) {
        sim_thread_check_freed(object, "a variable");
    }
}

void
sim__atomic_event(
        enum sim_event_kind kind, const volatile void *object, uint64_t value, const void *caller)
{
    rt_assert(sim_thread_now != NULL);
    struct sim_world *world = sim_thread_now->actor.world;
    const struct rt_site *site = sim_thread_site(caller);
    sim_world_event(world, kind, sim_variable_object(world, object), site != NULL ? site->id : 0, 0,
            usual(world, value));
}

void
sim__atomic_changed(
        const volatile void *object, uint64_t before, uint64_t after, const void *caller)
{
    rt_assert(sim_thread_now != NULL);
    struct sim_world *world = sim_thread_now->actor.world;
    const struct rt_site *site = sim_thread_site(caller);
    uint32_t number = sim_variable_object(world, object);
    uint32_t line = site != NULL ? site->id : 0;
    sim__event(world, SIM_EVENT_GET, number, line, 0, usual(world, before));
    sim__event(world, SIM_EVENT_SET, number, line, 0, usual(world, after));
}

/* What is there, in as many bytes as an event can hold. */
static uint64_t
value_at(const volatile void *address, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)(uintptr_t)address, size < sizeof(value) ? size : sizeof(value));
    return value;
}

void
sim__atomic_plain_point(const volatile void *address, size_t size, bool writes, const void *caller)
{
    sim_thread_point();
    if (writes) {
        sim_world_progress(sim_thread_now->actor.world);
        sim_world_news(sim_thread_now->actor.world);
        sim__atomic_record(SIM_EVENT_ASSIGN, address, size, caller);
    } else {
        sim__atomic_record(SIM_EVENT_GET, address, value_at(address, size), caller);
    }
}
