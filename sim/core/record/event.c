/*
 * event.c -- names of events and objects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/event.h"

#include "sim/base/names.h"

static const struct sim_name probes[] = {RT_PROBE_LIST(SIM_NAME_ROW)};
static const struct sim_name events[] = {SIM_EVENT_LIST(SIM_NAME_ROW)};

_Static_assert(RT_PROBE_KINDS < SIM_EVENT_FIRST, "probe kinds and event kinds share one space");
_Static_assert((int)SIM_EVENT_END_OF_KINDS <= 255, "a kind is one byte");
_Static_assert(sizeof(struct sim_event) == 32, "an event is 32 bytes");

static const struct sim_name *
name_at(uint32_t kind)
{
    return kind < SIM_EVENT_FIRST ? sim_name_at(probes, RT_PROBE_KINDS, kind)
                                  : sim_name_at(events, SIM_EVENT_END_OF_KINDS - SIM_EVENT_FIRST,
                                            kind - SIM_EVENT_FIRST);
}

const char *
sim_event_name(uint32_t kind)
{
    return name_at(kind)->name;
}

const char *
sim_event_meaning(uint32_t kind)
{
    return name_at(kind)->meaning;
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
