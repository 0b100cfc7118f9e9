/*
 * lines.c -- one pass over both, the events and the instructions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/lines.h"

#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/record/site.h"
#include "sim/explain/cause/priv.h"

#define ACTORS 4096u

/* An actor: its last instruction so far. */
struct actor {
    uint32_t id;   /* 0: it is not on record. */
    uint32_t last; /* And one; 0: none yet. */
};

struct pass {
    const struct sim_executed *executed;
    struct sim_places *places;
    uint32_t next;          /* The instruction that is looked at next. */
    struct actor *actors;   /* By their index in the run. */
    uint16_t by_id[ACTORS]; /* By the last digits of the id: the index that was found last. */
};

static void
find_actors(struct pass *pass, const struct sim_actor_table *actor_table)
{
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_ACTOR && event->actor < ACTORS) {
            pass->actors[event->actor].id = (uint32_t)event->argument;
        }
    }
}

/* The actor with that id; NULL: it is not on record. */
static struct actor *
actor_of(struct pass *pass, uint32_t id)
{
    uint16_t *known = &pass->by_id[id % ACTORS];
    for (uint32_t i = 0; i < ACTORS && pass->actors[*known].id != id; i++) {
        *known = (uint16_t)i;
    }
    return pass->actors[*known].id == id ? &pass->actors[*known] : NULL;
}

/* The number of the reader's line at that instruction; 0: it is in none. */
static uint32_t
line_at(const struct pass *pass, uintptr_t pc)
{
    struct sim_place places[SIM_INLINED_MAX];
    uint32_t count = sim_places_at(pass->places, pc, false, places, SIM_INLINED_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (sim_place_is_readers(&places[i]) && !sim_place_is_runtime(&places[i])) {
            return sim_sites_line(places[i].file, places[i].function, places[i].line);
        }
    }
    return 0;
}

static bool
has_line(const struct sim_event *event)
{
    const struct rt_site *site = sim_actor_table_place(event->await, event->site);
    struct sim_location location;
    sim__location_set(&location, site, 0, SIM_PART_NONE);
    return site != NULL && sim_place_is_readers(&location.place) &&
           !sim_place_is_runtime(&location.place);
}

/* Instructions up to the `event`-th event. */
static void
go_to(struct pass *pass, uint64_t event)
{
    const struct sim_executed *executed = pass->executed;
    for (; pass->next < executed->count && executed->all[pass->next].events <= event;
            pass->next++) {
        struct actor *actor = actor_of(pass, executed->all[pass->next].actor_id);
        if (actor != NULL) {
            actor->last = pass->next + 1;
        }
    }
}

void
sim_lines_add(struct sim_recorder *recorder, const struct sim_actor_table *actor_table,
        const struct sim_executed *executed, struct sim_places *places)
{
    rt_assert(actor_table->recorder == recorder);
    struct pass *pass = sim_heap_new(1, sizeof(*pass));
    pass->executed = executed;
    pass->places = places;
    pass->actors = sim_heap_new(ACTORS, sizeof(*pass->actors));
    find_actors(pass, actor_table);
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        uint64_t slot = i & (recorder->memory.events_capacity - 1);
        struct sim_event *event = &recorder->memory.events[slot];
        go_to(pass, i);
        uint32_t last = event->actor < ACTORS ? pass->actors[event->actor].last : 0;
        if (last == 0 && pass->next > 0 && executed->all[pass->next - 1].step == event->step) {
            last = pass->next; /* A task that a loop of the reader's runs: that one executes it. */
        }
        if (last != 0 && executed->all[last - 1].leaves && !has_line(event)) {
            event->await = line_at(pass, executed->all[last - 1].pc);
        }
    }
    free(pass->actors);
    free(pass);
}
