/*
 * event.c -- names of events and objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/event.h"

static const char *const probe_names[] = {
#define PROBE_NAME(name, text, meaning) text,
        RT_PROBE_LIST(PROBE_NAME)
#undef PROBE_NAME
};

static const char *const probe_meanings[] = {
#define PROBE_MEANING(name, text, meaning) meaning,
        RT_PROBE_LIST(PROBE_MEANING)
#undef PROBE_MEANING
};

static const char *const event_names[] = {
#define EVENT_NAME(name, text, meaning) text,
        SIM_EVENT_LIST(EVENT_NAME)
#undef EVENT_NAME
};

static const char *const event_meanings[] = {
#define EVENT_MEANING(name, text, meaning) meaning,
        SIM_EVENT_LIST(EVENT_MEANING)
#undef EVENT_MEANING
};

_Static_assert(RT_PROBE_KINDS < SIM_EVENT_FIRST, "probe kinds and event kinds share one space");
_Static_assert((int)SIM_EVENT_END_OF_KINDS <= 255, "a kind is one byte");
_Static_assert(sizeof(struct sim_event) == 32, "an event is 32 bytes");

static const char *
pick(uint32_t kind, const char *const *probes, const char *const *events)
{
    if (kind < RT_PROBE_KINDS) {
        return probes[kind];
    }
    if (kind >= SIM_EVENT_FIRST && kind < (uint32_t)SIM_EVENT_END_OF_KINDS) {
        return events[kind - SIM_EVENT_FIRST];
    }
    return "?";
}

const char *
sim_event_name(uint32_t kind)
{
    return pick(kind, probe_names, event_names);
}

const char *
sim_event_meaning(uint32_t kind)
{
    return pick(kind, probe_meanings, event_meanings);
}

const char *
sim_object_kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define OBJECT_NAME(name, text) text,
            RT_OBJECT_LIST(OBJECT_NAME)
#undef OBJECT_NAME
    };
    return kind < RT_OBJECT_KINDS ? names[kind] : "?";
}
