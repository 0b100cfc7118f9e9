/*
 * actor_table.c -- parts, from the events; names, from the texts.
 *
 * One pass over the events makes the parts and notes for each event whose it is.
 * Announced actors come with their kind and object. Where the ring has lost the
 * announcements, a part is made at its first event; whether an actor is the task
 * that it polls is then seen by their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/actor_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/symbols.h"
#include "sim/core/record/call.h"
#include "sim/core/record/outcome.h"
#include "sim/core/record/site.h"
#include "sim/thread/thread.h"

#define WORLD_ID 1u

#define PARTS_MAX 65535u /* part_of has 16 bits. */
#define ACTORS (SIM_ACTORS_MAX + 1)
#define NUMBERS 256u
#define MANY UINT16_MAX

/* A kept text, or NULL when its numbers make no sense. */
static const char *
text_bytes(const struct sim_recorder *recorder, const struct sim_text *text)
{
    uint32_t capacity = recorder->memory.bytes_capacity;
    if (text->offset >= capacity || text->length >= capacity - text->offset) {
        return NULL;
    }
    const char *bytes = recorder->memory.bytes + text->offset;
    return bytes[text->length] == '\0' ? bytes : NULL;
}

static uint32_t
texts_there(const struct sim_recorder *recorder)
{
    uint32_t capacity = recorder->memory.texts_capacity;
    return recorder->texts < capacity ? recorder->texts : capacity;
}

/* ---- Parts. ---------------------------------------------------------------------------------- */

static uint32_t
object_hash(uint32_t object)
{
    return (object ^ object >> 15) * 0x9e3779b1u;
}

static void
object_table_put(struct sim_actor_table *actor_table, uint32_t part)
{
    uint32_t mask = actor_table->by_object_size - 1;
    uint32_t at = object_hash(actor_table->parts[part].object) & mask;
    while (actor_table->by_object[at] != SIM_PART_NONE) {
        at = (at + 1) & mask;
    }
    actor_table->by_object[at] = part;
}

/* Makes room for one part more, and a table at most half full. */
static void
parts_grow(struct sim_actor_table *actor_table)
{
    uint32_t capacity = actor_table->capacity != 0 ? actor_table->capacity * 2 : 64;
    struct sim_part *parts = sim_heap_resize(actor_table->parts, capacity, sizeof(*parts));
    uint32_t *table = sim_heap_resize(actor_table->by_object, (size_t)capacity * 2, sizeof(*table));
    actor_table->parts = parts;
    actor_table->by_object = table;
    actor_table->capacity = capacity;
    actor_table->by_object_size = capacity * 2;
    memset(table, 0xff, (size_t)capacity * 2 * sizeof(*table));
    for (uint32_t i = 0; i < actor_table->count; i++) {
        if (parts[i].object != 0) {
            object_table_put(actor_table, i);
        }
    }
}

/* A new part; of too many the world's, which stands for what has none. */
static uint32_t
part_add(struct sim_actor_table *actor_table, uint32_t kind, uint32_t actor, uint32_t object,
        const char *name)
{
    if (actor_table->count == PARTS_MAX) {
        return 0;
    }
    if (actor_table->count == actor_table->capacity) {
        parts_grow(actor_table);
    }
    uint32_t part = actor_table->count++;
    actor_table->parts[part] = (struct sim_part){
            .name = name,
            .object = object,
            .actor = actor,
            .kind = kind,
            .first_poll = SIM_EVENT_NONE,
    };
    if (actor != 0 || part == 0) {
        actor_table->by_actor[actor] = part;
    }
    if (object != 0) {
        object_table_put(actor_table, part);
    }
    return part;
}

/* The text that names actor or object `key`, or NULL. */
static const char *
named(const struct sim_actor_table *actor_table, enum sim_text_kind kind, uint64_t key)
{
    const struct sim_recorder *recorder = actor_table->recorder;
    for (uint32_t i = 0; i < actor_table->names_count; i++) {
        const struct sim_text *text = &recorder->memory.texts[actor_table->names[i]];
        if (text->kind == (uint32_t)kind && text->key == key) {
            const char *bytes = text_bytes(recorder, text);
            return bytes != NULL && bytes[0] != '\0' ? bytes : NULL;
        }
    }
    return NULL;
}

static bool
same_name(const struct sim_actor_table *actor_table, uint32_t part, uint32_t object)
{
    const char *name = named(actor_table, SIM_TEXT_OBJECT, object);
    return name == NULL || actor_table->parts[part].name == NULL ||
           strcmp(name, actor_table->parts[part].name) == 0;
}

const char *
sim_actor_table_waits_for(const struct sim_actor_table *actor_table, uint32_t part)
{
    uint32_t actor = actor_table->parts[part].actor;
    return actor != 0 ? named(actor_table, SIM_TEXT_WAITER, actor) : NULL;
}

/* The part of actor `index`, made when it was never announced. */
static uint32_t
actor_part(struct sim_actor_table *actor_table, uint32_t index)
{
    if (index >= ACTORS) {
        return 0;
    }
    uint32_t part = actor_table->by_actor[index];
    if (part == SIM_PART_NONE) {
        part = part_add(
                actor_table, SIM_ACTOR_OTHER, index, 0, named(actor_table, SIM_TEXT_ACTOR, index));
    }
    return part;
}

static uint32_t
announced(struct sim_actor_table *actor_table, const struct sim_event *event)
{
    uint32_t part = actor_part(actor_table, event->actor);
    uint32_t kind = (uint32_t)(event->argument >> 32);
    actor_table->parts[part].kind = kind <= SIM_ACTOR_OTHER ? kind : SIM_ACTOR_OTHER;
    if (event->object != 0 && actor_table->parts[part].object == 0) {
        actor_table->parts[part].object = event->object;
        object_table_put(actor_table, part);
    }
    return part;
}

/* The task that is polled; made when it was not announced. */
static uint32_t
polled_part(struct sim_actor_table *actor_table, const struct sim_event *event)
{
    uint32_t part = sim_actor_table_object(actor_table, event->object);
    if (part != SIM_PART_NONE || event->object == 0) {
        return part;
    }
    uint32_t actor = actor_part(actor_table, event->actor);
    struct sim_part *who = &actor_table->parts[actor];
    bool could_be = who->kind == SIM_ACTOR_TASK || who->kind == SIM_ACTOR_OTHER;
    if (actor != 0 && could_be && who->object == 0 &&
            same_name(actor_table, actor, event->object)) {
        who->object = event->object;
        who->kind = SIM_ACTOR_TASK;
        object_table_put(actor_table, actor);
        return actor;
    }
    return part_add(actor_table, SIM_ACTOR_TASK, 0, event->object,
            named(actor_table, SIM_TEXT_OBJECT, event->object));
}

static void
note_end(struct sim_actor_table *actor_table, const struct sim_event *event, uint32_t part)
{
    uint32_t who = part;
    if (event->kind != SIM_EVENT_DONE) {
        who = sim_actor_table_object(actor_table, event->object);
    }
    if (who != SIM_PART_NONE) {
        actor_table->parts[who].finished = event->kind != RT_PROBE_POST;
    }
}

/* Whose `event` is. `polling` has for each actor the task that it polls now. */
static uint32_t
assign(struct sim_actor_table *actor_table, const struct sim_event *event, uint32_t *polling)
{
    uint32_t index = event->actor < ACTORS ? event->actor : 0;
    if (event->kind == SIM_EVENT_ACTOR) {
        return announced(actor_table, event);
    }
    if (event->kind == RT_PROBE_POLL) {
        polling[index] = polled_part(actor_table, event);
    } else if (event->kind == SIM_EVENT_STEP) {
        polling[index] = SIM_PART_NONE;
    }
    uint32_t part =
            polling[index] != SIM_PART_NONE ? polling[index] : actor_part(actor_table, index);
    if (event->kind == RT_PROBE_POLLED) {
        polling[index] = SIM_PART_NONE;
    }
    if (event->kind == RT_PROBE_COMPLETE || event->kind == RT_PROBE_CANCEL ||
            event->kind == RT_PROBE_POST || event->kind == SIM_EVENT_DONE) {
        note_end(actor_table, event, part);
    }
    return part;
}

static const struct sim_nickname *
nickname(const struct sim_actor_table *actor_table, uint32_t object)
{
    for (uint32_t i = 0; i < actor_table->nicknames_count; i++) {
        if (actor_table->nicknames[i].object == object) {
            return &actor_table->nicknames[i];
        }
    }
    return NULL;
}

/* What lies in the memory of a program is called by its kind: "a mutex". */
static bool
is_of_program(const char *reason)
{
    bool may = reason != NULL && strncmp(reason, "a ", 2) == 0;
    for (uint32_t kind = 0; may && kind < SIM_SYNC_KINDS; kind++) {
        if (strcmp(reason, sim_sync_name(kind)) == 0) {
            return true;
        }
    }
    return false;
}

/* What says more than "slot 3": what is waited for in it, or what it is; NULL. */
static const char *
nickname_in(
        const struct sim_actor_table *actor_table, const struct sim_event *event, uint64_t index)
{
    uint32_t kind = SIM_OBJECT_KIND(event->object);
    if (event->kind == RT_PROBE_STORE) {
        const char *reason = sim_actor_table_text(actor_table, index);
        return kind == RT_OBJECT_SLOT || is_of_program(reason) ? reason : NULL;
    }
    bool accessed = event->kind == SIM_EVENT_GET || event->kind == SIM_EVENT_SET;
    return accessed && kind == RT_OBJECT_USER ? sim_sync_name(SIM_SYNC_VARIABLE) : NULL;
}

static void
note_nickname(struct sim_actor_table *actor_table, const struct sim_event *event, uint64_t index)
{
    if (actor_table->nicknames_count == SIM_NICKNAMES_MAX) {
        return;
    }
    const char *reason = nickname_in(actor_table, event, index);
    if (reason != NULL && reason[0] != '\0' && nickname(actor_table, event->object) == NULL) {
        actor_table->nicknames[actor_table->nicknames_count++] =
                (struct sim_nickname){reason, event->object, event->await, event->site};
    }
}

static struct sim_descriptor *
descriptor_of(const struct sim_actor_table *actor_table, uint32_t object)
{
    for (uint32_t i = 0; i < actor_table->descriptors_count; i++) {
        if (actor_table->descriptors[i].object == object) {
            return &actor_table->descriptors[i];
        }
    }
    return NULL;
}

static void
note_descriptor(struct sim_actor_table *actor_table, const struct sim_event *event)
{
    uint32_t number = sim_call_of(event).number;
    if (number == SIM_CALL_none || number >= SIM_CALL_OF_SCENARIO || event->object == 0) {
        return;
    }
    struct sim_descriptor *descriptor = descriptor_of(actor_table, event->object);
    if (descriptor == NULL && actor_table->descriptors_count < SIM_DESCRIPTORS_MAX) {
        descriptor = &actor_table->descriptors[actor_table->descriptors_count++];
    }
    if (descriptor != NULL) {
        *descriptor = (struct sim_descriptor){event->object, sim_call_of(event).fd};
    }
}

/* Where `numbered` has the n-th of a kind; numbers too high for the table share its last. */
static uint16_t *
number_of(const struct sim_actor_table *actor_table, uint32_t object)
{
    uint32_t nth = SIM_OBJECT_NTH(object) < NUMBERS ? SIM_OBJECT_NTH(object) : NUMBERS - 1;
    return &actor_table->numbered[SIM_OBJECT_KIND(object) * NUMBERS + nth];
}

/* Numbers are counted by each maker. 0: there is no such one yet; else 1 + the index of who
 * did, or MANY. */
static void
note_number(struct sim_actor_table *actor_table, uint32_t object)
{
    if (object == 0) {
        return;
    }
    uint16_t *maker = number_of(actor_table, object);
    uint16_t now = (uint16_t)(SIM_OBJECT_ACTOR(object) + 1);
    bool other = *maker != 0 && *maker != now;
    *maker = other || SIM_OBJECT_NTH(object) >= NUMBERS - 1 ? MANY : now;
}

static void
assign_all(struct sim_actor_table *actor_table)
{
    uint32_t *polling = sim_heap_resize(NULL, ACTORS, sizeof(*polling));
    memset(polling, 0xff, ACTORS * sizeof(*polling));
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        uint32_t part = assign(actor_table, sim_actor_table_event(actor_table, i), polling);
        rt_assert(part < actor_table->count);
        note_nickname(actor_table, sim_actor_table_event(actor_table, i), i);
        note_descriptor(actor_table, sim_actor_table_event(actor_table, i));
        note_number(actor_table, sim_actor_table_event(actor_table, i)->object);
        if (sim_actor_table_event(actor_table, i)->kind == RT_PROBE_POLL &&
                i < actor_table->parts[part].first_poll) {
            actor_table->parts[part].first_poll = i;
        }
        actor_table->part_of[i - actor_table->first] = (uint16_t)part;
    }
    free(polling);
}

/* Sorts the texts into those of events and names. Texts of events come in the order of events. */
static void
sort_texts(struct sim_actor_table *actor_table)
{
    const struct sim_recorder *recorder = actor_table->recorder;
    uint64_t last = 0;
    for (uint32_t i = 0; i < texts_there(recorder); i++) {
        const struct sim_text *text = &recorder->memory.texts[i];
        if (text->kind != SIM_TEXT_EVENT) {
            actor_table->names[actor_table->names_count++] = i;
        } else if (text->key >= last) {
            last = text->key;
            actor_table->texts[actor_table->texts_count++] = i;
        }
    }
}

static void
take_memory(struct sim_actor_table *actor_table)
{
    size_t texts = texts_there(actor_table->recorder) + (size_t)1;
    size_t events = (size_t)(actor_table->end - actor_table->first) + 1;
    actor_table->part_of = sim_heap_new(events, sizeof(*actor_table->part_of));
    actor_table->texts = sim_heap_new(texts, sizeof(*actor_table->texts));
    actor_table->names = sim_heap_new(texts, sizeof(*actor_table->names));
    actor_table->by_actor = sim_heap_new(ACTORS, sizeof(*actor_table->by_actor));
    actor_table->nicknames = sim_heap_new(SIM_NICKNAMES_MAX, sizeof(*actor_table->nicknames));
    actor_table->descriptors = sim_heap_new(SIM_DESCRIPTORS_MAX, sizeof(*actor_table->descriptors));
    actor_table->numbered =
            sim_heap_new((size_t)RT_OBJECT_KINDS * NUMBERS, sizeof(*actor_table->numbered));
    memset(actor_table->by_actor, 0xff, ACTORS * sizeof(*actor_table->by_actor));
}

void
sim_actor_table_make(struct sim_actor_table *actor_table, const struct sim_recorder *recorder)
{
    rt_assert(actor_table != NULL);
    rt_assert(recorder != NULL);
    *actor_table = (struct sim_actor_table){
            .recorder = recorder,
            .first = sim_recorder_first(recorder),
            .end = recorder->count,
    };
    take_memory(actor_table);
    sort_texts(actor_table);
    (void)part_add(actor_table, SIM_ACTOR_WORLD, 0, 0, NULL);
    assign_all(actor_table);
    sim_moves_make(&actor_table->moves, recorder);
}

void
sim_actor_table_free(struct sim_actor_table *actor_table)
{
    rt_assert(actor_table != NULL);
    free(actor_table->parts);
    free(actor_table->part_of);
    free(actor_table->texts);
    free(actor_table->names);
    free(actor_table->by_actor);
    free(actor_table->by_object);
    free(actor_table->nicknames);
    free(actor_table->descriptors);
    free(actor_table->numbered);
    sim_moves_free(&actor_table->moves);
    *actor_table = (struct sim_actor_table){0};
}

const struct sim_event *
sim_actor_table_event(const struct sim_actor_table *actor_table, uint64_t event)
{
    rt_assert(event >= actor_table->first && event < actor_table->end);
    const struct sim_event *found = sim_recorder_event(actor_table->recorder, event);
    rt_assert(found != NULL);
    return found;
}

uint32_t
sim_actor_table_part_of(const struct sim_actor_table *actor_table, uint64_t event)
{
    bool there = event >= actor_table->first && event < actor_table->end;
    return there ? actor_table->part_of[event - actor_table->first] : 0;
}

uint32_t
sim_actor_table_actor(const struct sim_actor_table *actor_table, uint32_t index)
{
    return index < ACTORS ? actor_table->by_actor[index] : SIM_PART_NONE;
}

uint32_t
sim_actor_table_id(const struct sim_actor_table *actor_table, uint32_t part)
{
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_ACTOR &&
                sim_actor_table_actor(actor_table, event->actor) == part) {
            return (uint32_t)event->argument;
        }
    }
    return 0;
}

uint32_t
sim_actor_table_of_id(const struct sim_actor_table *actor_table, uint32_t id)
{
    if (id == WORLD_ID) {
        return 0;
    }
    for (uint64_t i = actor_table->first; i < actor_table->end && id != 0; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_ACTOR && (uint32_t)event->argument == id) {
            return sim_actor_table_actor(actor_table, event->actor);
        }
    }
    return SIM_PART_NONE;
}

uint32_t
sim_actor_table_object(const struct sim_actor_table *actor_table, uint32_t object)
{
    if (object == 0) {
        return SIM_PART_NONE;
    }
    uint32_t mask = actor_table->by_object_size - 1;
    uint32_t at = object_hash(object) & mask;
    while (actor_table->by_object[at] != SIM_PART_NONE) {
        if (actor_table->parts[actor_table->by_object[at]].object == object) {
            return actor_table->by_object[at];
        }
        at = (at + 1) & mask;
    }
    return SIM_PART_NONE;
}

const char *
sim_actor_table_text(const struct sim_actor_table *actor_table, uint64_t event)
{
    const struct sim_text *texts = actor_table->recorder->memory.texts;
    uint32_t low = 0;
    uint32_t high = actor_table->texts_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (texts[actor_table->texts[middle]].key < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == actor_table->texts_count || texts[actor_table->texts[low]].key != event) {
        return NULL;
    }
    return text_bytes(actor_table->recorder, &texts[actor_table->texts[low]]);
}

uint64_t
sim_actor_table_step_first(const struct sim_actor_table *actor_table, uint64_t step)
{
    uint64_t low = actor_table->first;
    uint64_t high = actor_table->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sim_actor_table_event(actor_table, middle)->step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < actor_table->end && sim_actor_table_event(actor_table, low)->step == step;
    return found ? low : SIM_EVENT_NONE;
}

bool
sim_actor_table_step_time(
        const struct sim_actor_table *actor_table, uint64_t step, uint64_t *ret_ns)
{
    uint64_t i = sim_actor_table_step_first(actor_table, step);
    for (; i < actor_table->end && sim_actor_table_event(actor_table, i)->step == step; i++) {
        if (sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_STEP) {
            *ret_ns = sim_actor_table_event(actor_table, i)->argument;
            return true;
        }
    }
    return false;
}

uint32_t
sim_actor_table_limit(const struct sim_actor_table *actor_table)
{
    const struct sim_event *end = actor_table->end > actor_table->first
                                          ? sim_actor_table_event(actor_table, actor_table->end - 1)
                                          : NULL;
    bool limit =
            end != NULL && end->kind == SIM_EVENT_END &&
            (end->argument == SIM_VERDICT_LIVELOCK || end->argument == SIM_VERDICT_STEP_LIMIT ||
                    end->argument == SIM_VERDICT_TIME_LIMIT);
    return limit ? (uint32_t)end->argument : (uint32_t)SIM_VERDICT_PASS;
}

uint64_t
sim_actor_table_blocked(const struct sim_actor_table *actor_table, uint32_t part, uint64_t before)
{
    rt_assert(before <= actor_table->end);
    for (uint64_t i = before; i-- > actor_table->first;) {
        uint32_t kind = sim_actor_table_event(actor_table, i)->kind;
        bool either = kind == SIM_EVENT_BLOCK || kind == SIM_EVENT_UNBLOCK;
        if (either && sim_actor_table_part_of(actor_table, i) == part) {
            return kind == SIM_EVENT_BLOCK ? i : SIM_EVENT_NONE;
        }
    }
    return SIM_EVENT_NONE;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

void
sim_actor_table_put_part(
        const struct sim_actor_table *actor_table, struct sim_page *page, uint32_t part)
{
    static const char *const kinds[] = {"the world", "task", "loop", "source", "fault", "actor"};
    if (part == 0 || part >= actor_table->count) {
        sim_page_put(page, "the world");
        return;
    }
    const struct sim_part *who = &actor_table->parts[part];
    if (who->name != NULL) {
        sim_page_clean(page, who->name);
    } else if (who->actor != 0) {
        rt_assert(who->kind <= SIM_ACTOR_OTHER);
        sim_page_printf(page, "%s %u", kinds[who->kind], who->actor);
    } else {
        sim_actor_table_put_object(actor_table, page, who->object, part);
    }
}

bool
sim_actor_table_has_number(const struct sim_actor_table *actor_table, uint32_t object)
{
    return descriptor_of(actor_table, object) != NULL;
}

bool
sim_actor_table_has_name(const struct sim_actor_table *actor_table, uint32_t object)
{
    uint32_t part = sim_actor_table_object(actor_table, object);
    return (part != SIM_PART_NONE && actor_table->parts[part].name != NULL) ||
           named(actor_table, SIM_TEXT_OBJECT, object) != NULL;
}

bool
sim_actor_table_same_name(const struct sim_actor_table *actor_table, uint32_t part, uint32_t object)
{
    const char *name = named(actor_table, SIM_TEXT_OBJECT, object);
    return part < actor_table->count && name != NULL && actor_table->parts[part].name != NULL &&
           strcmp(name, actor_table->parts[part].name) == 0;
}

/* A reason that says no more than what kind of thing is waited for. */
static bool
says_nothing(const char *reason)
{
    for (uint32_t kind = 0; reason != NULL && kind < RT_OBJECT_KINDS; kind++) {
        if (strcmp(reason, sim_object_kind_name(kind)) == 0) {
            return true;
        }
    }
    return reason == NULL || reason[0] == '\0';
}

/* What a program has no name for lies on the stack of a thread, in the heap, or in a library. */
static bool
is_on_stack(uint32_t object)
{
    return SIM_OBJECT_NTH(object) >= SIM_STACK_NTH && SIM_OBJECT_ACTOR(object) != 0;
}

/* A line of a library says nothing. */
static bool
is_readers(const struct rt_site *site)
{
    struct sim_place place = {.line = site->line};
    (void)snprintf(place.file, sizeof(place.file), "%s", site->file);
    return sim_place_is_readers(&place);
}

/* "the condition variable of lease() (lease.c:52) on the stack of thread 2" */
static void
put_program_object(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_nickname *nickname, uint32_t seen_by)
{
    const struct rt_site *site = sim_actor_table_place(nickname->await, nickname->site);
    uint32_t creator = sim_actor_table_actor(actor_table, SIM_OBJECT_ACTOR(nickname->object));
    if (site == NULL || !is_readers(site)) {
        sim_page_put(page, nickname->reason);
    } else {
        sim_page_printf(page, "the %s of %s() (%s:%u)", nickname->reason + 2, site->function,
                sim_site_file(site), (unsigned)site->line);
    }
    if (is_on_stack(nickname->object) && creator != SIM_PART_NONE) {
        sim_page_put(page, creator == seen_by ? " on its own stack" : " on the stack of ");
        if (creator != seen_by) {
            sim_actor_table_put_part(actor_table, page, creator);
        }
    }
}

/* "timer 2 of pinger", or, for a slot that something was waited for in, what that was. */
static void
put_made_up_name(const struct sim_actor_table *actor_table, struct sim_page *page, uint32_t object,
        uint32_t seen_by)
{
    const struct sim_nickname *known = nickname(actor_table, object);
    if (known != NULL && is_of_program(known->reason)) {
        put_program_object(actor_table, page, known, seen_by);
        return;
    }
    if (known != NULL) {
        sim_page_put(page, "\"");
        sim_page_clean(page, known->reason);
        sim_page_put(page, "\"");
        return;
    }
    uint32_t creator = sim_actor_table_actor(actor_table, SIM_OBJECT_ACTOR(object));
    bool shared = *number_of(actor_table, object) == MANY;
    bool own = creator == seen_by && creator != 0 && creator != SIM_PART_NONE;
    sim_page_printf(page, "%s%s %u", own && shared ? "its " : "",
            sim_object_kind_name(SIM_OBJECT_KIND(object)), SIM_OBJECT_NTH(object));
    if (creator == 0) {
        sim_page_put(page, shared ? " of the setup" : "");
    } else if (creator != SIM_PART_NONE && !own) {
        sim_page_put(page, " of ");
        sim_actor_table_put_part(actor_table, page, creator);
    }
}

/* "pipe 5, reading end" */
static void
put_descriptor(struct sim_page *page, const char *name, uint32_t fd)
{
    size_t length = strcspn(name, ",");
    sim_page_printf(page, "%.*s %u%s", (int)length, name, fd, name + length);
}

void
sim_actor_table_put_object(const struct sim_actor_table *actor_table, struct sim_page *page,
        uint32_t object, uint32_t part)
{
    if (object == 0) {
        sim_page_put(page, "nothing");
        return;
    }
    const char *name = named(actor_table, SIM_TEXT_OBJECT, object);
    uint32_t self = sim_actor_table_object(actor_table, object);
    const struct sim_descriptor *descriptor = descriptor_of(actor_table, object);
    if (name != NULL && descriptor != NULL) {
        put_descriptor(page, name, descriptor->fd);
    } else if (name != NULL) {
        sim_page_clean(page, name);
    } else if (self != SIM_PART_NONE &&
               (actor_table->parts[self].name != NULL || actor_table->parts[self].actor != 0)) {
        sim_actor_table_put_part(actor_table, page, self);
    } else {
        put_made_up_name(actor_table, page, object, part);
    }
}

void
sim_actor_table_put_wanted(const struct sim_actor_table *actor_table, struct sim_page *page,
        uint32_t object, const char *reason, uint32_t part)
{
    if (object == 0) {
        bool said = reason != NULL && reason[0] != '\0';
        sim_page_clean(page, said ? reason : "something without a name");
        return;
    }
    /* "slot 3" says no more than the reason does; a name that is the reason may have a number. */
    const char *name = named(actor_table, SIM_TEXT_OBJECT, object);
    const struct sim_nickname *known = nickname(actor_table, object);
    bool same = name != NULL ? reason != NULL && strcmp(name, reason) == 0
                             : known != NULL && is_of_program(reason);
    bool joins = reason != NULL && strcmp(reason, sim_sync_name(SIM_SYNC_JOIN)) == 0;
    if (same || joins || says_nothing(reason)) {
        bool ends = joins || SIM_OBJECT_KIND(object) == RT_OBJECT_TASK;
        sim_page_put(page, ends ? "the end of " : "");
        sim_actor_table_put_object(actor_table, page, object, part);
        return;
    }
    sim_page_clean(page, reason);
    if (SIM_OBJECT_KIND(object) != RT_OBJECT_SLOT ||
            sim_actor_table_has_name(actor_table, object)) {
        sim_page_put(page, " (");
        sim_actor_table_put_object(actor_table, page, object, part);
        sim_page_put(page, ")");
    }
}

const struct rt_site *
sim_actor_table_place(uint32_t await, uint32_t site)
{
    const struct rt_site *place = sim_site_find(await);
    place = place != NULL ? place : sim_site_find(site);
    return place != NULL && place->line != 0 ? place : NULL;
}

bool
sim_actor_table_put_place(struct sim_page *page, uint32_t await, uint32_t site)
{
    const struct rt_site *place = sim_actor_table_place(await, site);
    if (place == NULL) {
        return false;
    }
    sim_page_put_line(page, place->file, place->line);
    sim_page_printf(page, " in %s()", place->function);
    return true;
}
