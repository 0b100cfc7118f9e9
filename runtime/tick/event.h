/*
 * event.h -- something that has happened in the world, and a task's queue for such events.
 *
 * A sink is a ring over an array that the caller provides: events come out in the order in which
 * they went in (G5). A full sink refuses the new event by default, so that a task loses nothing
 * that it has not read yet; where only the latest matters, the oldest is dropped (G6).
 * A sink wakes no task: ticker.h does, whose events go to a task by its id.
 *
 * Ownership. Events are copied. The sink borrows its array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_EVENT_H
#define RT_TICK_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened to which subject; the meaning is the game's. */
struct rt_event {
    uint32_t kind;    /* Below 64 for subscriptions by kind. */
    uint32_t subject; /* The entity that it happened to. */
    uint64_t value;
};

enum rt_sink_full {
    RT_SINK_DROP_NEW, /* The new event is refused. The default. */
    RT_SINK_DROP_OLD  /* The oldest is dropped. */
};

struct rt_event_sink {
    struct rt_object object;
    struct rt_event *events;
    uint32_t capacity;
    uint32_t head;
    uint32_t count;
    enum rt_sink_full full;
    uint64_t pushed;  /* Events that ever went in. */
    uint64_t dropped; /* Events refused or dropped because it was full. */
};

/* An empty sink over `capacity` events; 0 (and `events` NULL) refuses every event. */
void rt_event_sink_init(struct rt_event_sink *sink, struct rt_event *events, uint32_t capacity,
        enum rt_sink_full full);

/* Copies `event` in. RT_E_FULL: no space, and nothing has changed but the count of the dropped;
 * with RT_SINK_DROP_OLD only where the capacity is 0. */
#define rt_event_sink_push(sink, event) rt_event_sink_push_at((sink), (event), RT_HERE)
RT_MUST_CHECK rt_err rt_event_sink_push_at(
        struct rt_event_sink *sink, const struct rt_event *event, const struct rt_site *await);

/* Takes the oldest out. False: there is none, and *ret_event is untouched. Never waits. */
#define rt_event_sink_pop(sink, ret_event) rt_event_sink_pop_at((sink), (ret_event), RT_HERE)
bool rt_event_sink_pop_at(
        struct rt_event_sink *sink, struct rt_event *ret_event, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
