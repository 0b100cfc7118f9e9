/*
 * event.c -- the ring of a sink.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/event.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define RT_SINK_MAGIC 0x5253494eu

void
rt_event_sink_init(struct rt_event_sink *sink, struct rt_event *events, uint32_t capacity,
        enum rt_sink_full full)
{
    rt_assert(sink != NULL);
    rt_assert(events != NULL || capacity == 0);
    *sink = (struct rt_event_sink){
            .object = {RT_SINK_MAGIC, RT_PROBE_OBJECT(CHANNEL)},
            .events = events,
            .capacity = capacity,
            .full = full,
    };
}

static void
forget_oldest(struct rt_event_sink *sink)
{
    sink->head = (sink->head + 1) % sink->capacity;
    sink->count--;
    sink->dropped++;
}

rt_err
rt_event_sink_push_at(
        struct rt_event_sink *sink, const struct rt_event *event, const struct rt_site *await)
{
    rt_check(&sink->object, RT_SINK_MAGIC);
    rt_assert(event != NULL);
    if (sink->count == sink->capacity) {
        if (sink->full == RT_SINK_DROP_NEW || sink->capacity == 0) {
            sink->dropped++;
            RT_PROBE(REFUSE, sink->object.id, RT_HERE, await, 1);
            return RT_E_FULL;
        }
        forget_oldest(sink);
    }
    sink->events[(sink->head + sink->count) % sink->capacity] = *event;
    sink->count++;
    sink->pushed++;
    RT_PROBE(PUT, sink->object.id, RT_HERE, await, 1);
    return RT_OK;
}

bool
rt_event_sink_pop_at(
        struct rt_event_sink *sink, struct rt_event *ret_event, const struct rt_site *await)
{
    rt_check(&sink->object, RT_SINK_MAGIC);
    rt_assert(ret_event != NULL);
    if (sink->count == 0) {
        return false;
    }
    *ret_event = sink->events[sink->head];
    sink->head = (sink->head + 1) % sink->capacity;
    sink->count--;
    RT_PROBE(CONSUME, sink->object.id, RT_HERE, await, 1);
    return true;
}
