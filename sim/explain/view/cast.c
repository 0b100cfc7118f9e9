/*
 * cast.c -- parts, from the events; names, from the texts.
 *
 * One pass over the events makes the parts and notes for each event whose it is.
 * Announced actors come with their kind and object. Where the ring has lost the
 * announcements, a part is made at its first event; whether an actor is the task
 * that it polls is then seen by their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/view/cast.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/outcome.h"
#include "sim/core/site.h"

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
object_table_put(struct sim_cast *cast, uint32_t part)
{
    uint32_t mask = cast->by_object_size - 1;
    uint32_t at = object_hash(cast->parts[part].object) & mask;
    while (cast->by_object[at] != SIM_PART_NONE) {
        at = (at + 1) & mask;
    }
    cast->by_object[at] = part;
}

/* Makes room for one part more, and a table at most half full. */
static bool
parts_grow(struct sim_cast *cast)
{
    uint32_t capacity = cast->capacity != 0 ? cast->capacity * 2 : 64;
    struct sim_part *parts = reallocarray(cast->parts, capacity, sizeof(*parts));
    if (parts == NULL) {
        return false;
    }
    cast->parts = parts;
    uint32_t *table = reallocarray(cast->by_object, (size_t)capacity * 2, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    cast->by_object = table;
    cast->capacity = capacity;
    cast->by_object_size = capacity * 2;
    memset(table, 0xff, (size_t)capacity * 2 * sizeof(*table));
    for (uint32_t i = 0; i < cast->count; i++) {
        if (parts[i].object != 0) {
            object_table_put(cast, i);
        }
    }
    return true;
}

/* A new part; SIM_PART_NONE: no memory, or too many. */
static uint32_t
part_add(struct sim_cast *cast, uint32_t kind, uint32_t actor, uint32_t object, const char *name)
{
    if (cast->count == PARTS_MAX || (cast->count == cast->capacity && !parts_grow(cast))) {
        return SIM_PART_NONE;
    }
    uint32_t part = cast->count++;
    cast->parts[part] = (struct sim_part){
            .name = name,
            .object = object,
            .actor = actor,
            .kind = kind,
    };
    if (actor != 0 || part == 0) {
        cast->by_actor[actor] = part;
    }
    if (object != 0) {
        object_table_put(cast, part);
    }
    return part;
}

/* The text that names actor or object `key`, or NULL. */
static const char *
named(const struct sim_cast *cast, enum sim_text_kind kind, uint64_t key)
{
    const struct sim_recorder *recorder = cast->recorder;
    for (uint32_t i = 0; i < cast->names_count; i++) {
        const struct sim_text *text = &recorder->memory.texts[cast->names[i]];
        if (text->kind == (uint32_t)kind && text->key == key) {
            const char *bytes = text_bytes(recorder, text);
            return bytes != NULL && bytes[0] != '\0' ? bytes : NULL;
        }
    }
    return NULL;
}

static bool
same_name(const struct sim_cast *cast, uint32_t part, uint32_t object)
{
    const char *name = named(cast, SIM_TEXT_OBJECT, object);
    return name == NULL || cast->parts[part].name == NULL ||
           strcmp(name, cast->parts[part].name) == 0;
}

/* The part of actor `index`, made when it was never announced. */
static uint32_t
actor_part(struct sim_cast *cast, uint32_t index)
{
    if (index >= ACTORS) {
        return 0;
    }
    uint32_t part = cast->by_actor[index];
    if (part == SIM_PART_NONE) {
        part = part_add(cast, SIM_ACTOR_OTHER, index, 0, named(cast, SIM_TEXT_ACTOR, index));
    }
    return part;
}

static uint32_t
announced(struct sim_cast *cast, const struct sim_event *event)
{
    uint32_t part = actor_part(cast, event->actor);
    if (part == SIM_PART_NONE) {
        return part;
    }
    uint32_t kind = (uint32_t)(event->argument >> 32);
    cast->parts[part].kind = kind <= SIM_ACTOR_OTHER ? kind : SIM_ACTOR_OTHER;
    if (event->object != 0 && cast->parts[part].object == 0) {
        cast->parts[part].object = event->object;
        object_table_put(cast, part);
    }
    return part;
}

/* The task that is polled; made when nobody announced it. */
static uint32_t
polled_part(struct sim_cast *cast, const struct sim_event *event)
{
    uint32_t part = sim_cast_object(cast, event->object);
    if (part != SIM_PART_NONE || event->object == 0) {
        return part;
    }
    uint32_t actor = actor_part(cast, event->actor);
    if (actor == SIM_PART_NONE) {
        return actor;
    }
    struct sim_part *who = &cast->parts[actor];
    bool could_be = who->kind == SIM_ACTOR_TASK || who->kind == SIM_ACTOR_OTHER;
    if (actor != 0 && could_be && who->object == 0 && same_name(cast, actor, event->object)) {
        who->object = event->object;
        who->kind = SIM_ACTOR_TASK;
        object_table_put(cast, actor);
        return actor;
    }
    return part_add(
            cast, SIM_ACTOR_TASK, 0, event->object, named(cast, SIM_TEXT_OBJECT, event->object));
}

static void
note_end(struct sim_cast *cast, const struct sim_event *event, uint32_t part)
{
    uint32_t who = part;
    if (event->kind != SIM_EVENT_DONE) {
        who = sim_cast_object(cast, event->object);
    }
    if (who != SIM_PART_NONE) {
        cast->parts[who].finished = event->kind != RT_PROBE_POST;
    }
}

/* Whose `event` is. `polling` has for each actor the task that it polls now. */
static uint32_t
assign(struct sim_cast *cast, const struct sim_event *event, uint32_t *polling)
{
    uint32_t index = event->actor < ACTORS ? event->actor : 0;
    if (event->kind == SIM_EVENT_ACTOR) {
        return announced(cast, event);
    }
    if (event->kind == RT_PROBE_POLL) {
        polling[index] = polled_part(cast, event);
    } else if (event->kind == SIM_EVENT_STEP) {
        polling[index] = SIM_PART_NONE;
    }
    uint32_t part = polling[index] != SIM_PART_NONE ? polling[index] : actor_part(cast, index);
    if (event->kind == RT_PROBE_POLLED) {
        polling[index] = SIM_PART_NONE;
    }
    if (event->kind == RT_PROBE_COMPLETE || event->kind == RT_PROBE_CANCEL ||
            event->kind == RT_PROBE_POST || event->kind == SIM_EVENT_DONE) {
        note_end(cast, event, part);
    }
    return part;
}

/* "slot 3" tells nobody anything; what is waited for in it does. */
static void
note_nickname(struct sim_cast *cast, const struct sim_event *event, uint64_t index)
{
    if (event->kind != RT_PROBE_STORE || SIM_OBJECT_KIND(event->object) != RT_OBJECT_SLOT ||
            cast->nicknames_count == SIM_NICKNAMES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < cast->nicknames_count; i++) {
        if (cast->nicknames[i].object == event->object) {
            return;
        }
    }
    const char *reason = sim_cast_text(cast, index);
    if (reason != NULL && reason[0] != '\0') {
        cast->nicknames[cast->nicknames_count++] = (struct sim_nickname){reason, event->object};
    }
}

/* Where `numbered` has the n-th of a kind; numbers too high for the table share its last. */
static uint16_t *
number_of(const struct sim_cast *cast, uint32_t object)
{
    uint32_t nth = SIM_OBJECT_NTH(object) < NUMBERS ? SIM_OBJECT_NTH(object) : NUMBERS - 1;
    return &cast->numbered[SIM_OBJECT_KIND(object) * NUMBERS + nth];
}

/* Numbers are counted by each maker. 0: nobody has made such a one yet; else 1 + the index of who
 * did, or MANY. */
static void
note_number(struct sim_cast *cast, uint32_t object)
{
    if (object == 0) {
        return;
    }
    uint16_t *maker = number_of(cast, object);
    uint16_t now = (uint16_t)(SIM_OBJECT_ACTOR(object) + 1);
    bool other = *maker != 0 && *maker != now;
    *maker = other || SIM_OBJECT_NTH(object) >= NUMBERS - 1 ? MANY : now;
}

static bool
assign_all(struct sim_cast *cast)
{
    uint32_t *polling = malloc(ACTORS * sizeof(*polling));
    if (polling == NULL) {
        return false;
    }
    memset(polling, 0xff, ACTORS * sizeof(*polling));
    bool fine = true;
    for (uint64_t i = cast->first; i < cast->end && fine; i++) {
        uint32_t part = assign(cast, sim_cast_event(cast, i), polling);
        fine = part != SIM_PART_NONE;
        note_nickname(cast, sim_cast_event(cast, i), i);
        note_number(cast, sim_cast_event(cast, i)->object);
        cast->part_of[i - cast->first] = (uint16_t)(fine ? part : 0);
    }
    free(polling);
    return fine;
}

/* Sorts the texts into those of events and names. Texts of events come in the order of events. */
static void
sort_texts(struct sim_cast *cast)
{
    const struct sim_recorder *recorder = cast->recorder;
    uint64_t last = 0;
    for (uint32_t i = 0; i < texts_there(recorder); i++) {
        const struct sim_text *text = &recorder->memory.texts[i];
        if (text->kind != SIM_TEXT_EVENT) {
            cast->names[cast->names_count++] = i;
        } else if (text->key >= last) {
            last = text->key;
            cast->texts[cast->texts_count++] = i;
        }
    }
}

static bool
take_memory(struct sim_cast *cast)
{
    size_t texts = texts_there(cast->recorder) + (size_t)1;
    cast->part_of = calloc((size_t)(cast->end - cast->first) + 1, sizeof(*cast->part_of));
    cast->texts = calloc(texts, sizeof(*cast->texts));
    cast->names = calloc(texts, sizeof(*cast->names));
    cast->by_actor = malloc(ACTORS * sizeof(*cast->by_actor));
    cast->nicknames = calloc(SIM_NICKNAMES_MAX, sizeof(*cast->nicknames));
    cast->numbered = calloc((size_t)RT_OBJECT_KINDS * NUMBERS, sizeof(*cast->numbered));
    if (cast->part_of == NULL || cast->texts == NULL || cast->names == NULL ||
            cast->by_actor == NULL || cast->nicknames == NULL || cast->numbered == NULL) {
        return false;
    }
    memset(cast->by_actor, 0xff, ACTORS * sizeof(*cast->by_actor));
    return true;
}

rt_err
sim_cast_make(struct sim_cast *cast, const struct sim_recorder *recorder)
{
    rt_assert(cast != NULL);
    rt_assert(recorder != NULL);
    *cast = (struct sim_cast){
            .recorder = recorder,
            .first = sim_recorder_first(recorder),
            .end = recorder->count,
    };
    if (!take_memory(cast)) {
        sim_cast_free(cast);
        return RT_E_FULL;
    }
    sort_texts(cast);
    if (part_add(cast, SIM_ACTOR_WORLD, 0, 0, NULL) == SIM_PART_NONE || !assign_all(cast) ||
            sim_moves_make(&cast->moves, recorder) != RT_OK) {
        sim_cast_free(cast);
        return RT_E_FULL;
    }
    return RT_OK;
}

void
sim_cast_free(struct sim_cast *cast)
{
    rt_assert(cast != NULL);
    free(cast->parts);
    free(cast->part_of);
    free(cast->texts);
    free(cast->names);
    free(cast->by_actor);
    free(cast->by_object);
    free(cast->nicknames);
    free(cast->numbered);
    sim_moves_free(&cast->moves);
    *cast = (struct sim_cast){0};
}

const struct sim_event *
sim_cast_event(const struct sim_cast *cast, uint64_t event)
{
    rt_assert(event >= cast->first && event < cast->end);
    const struct sim_event *found = sim_recorder_event(cast->recorder, event);
    rt_assert(found != NULL);
    return found;
}

uint32_t
sim_cast_part_of(const struct sim_cast *cast, uint64_t event)
{
    bool there = event >= cast->first && event < cast->end;
    return there ? cast->part_of[event - cast->first] : 0;
}

uint32_t
sim_cast_actor(const struct sim_cast *cast, uint32_t index)
{
    return index < ACTORS ? cast->by_actor[index] : SIM_PART_NONE;
}

uint32_t
sim_cast_object(const struct sim_cast *cast, uint32_t object)
{
    if (object == 0) {
        return SIM_PART_NONE;
    }
    uint32_t mask = cast->by_object_size - 1;
    uint32_t at = object_hash(object) & mask;
    while (cast->by_object[at] != SIM_PART_NONE) {
        if (cast->parts[cast->by_object[at]].object == object) {
            return cast->by_object[at];
        }
        at = (at + 1) & mask;
    }
    return SIM_PART_NONE;
}

const char *
sim_cast_text(const struct sim_cast *cast, uint64_t event)
{
    const struct sim_text *texts = cast->recorder->memory.texts;
    uint32_t low = 0;
    uint32_t high = cast->texts_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (texts[cast->texts[middle]].key < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == cast->texts_count || texts[cast->texts[low]].key != event) {
        return NULL;
    }
    return text_bytes(cast->recorder, &texts[cast->texts[low]]);
}

uint64_t
sim_cast_step_first(const struct sim_cast *cast, uint64_t step)
{
    uint64_t low = cast->first;
    uint64_t high = cast->end;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sim_cast_event(cast, middle)->step < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < cast->end && sim_cast_event(cast, low)->step == step;
    return found ? low : SIM_EVENT_NONE;
}

bool
sim_cast_step_time(const struct sim_cast *cast, uint64_t step, uint64_t *ret_ns)
{
    uint64_t i = sim_cast_step_first(cast, step);
    for (; i < cast->end && sim_cast_event(cast, i)->step == step; i++) {
        if (sim_cast_event(cast, i)->kind == SIM_EVENT_STEP) {
            *ret_ns = sim_cast_event(cast, i)->argument;
            return true;
        }
    }
    return false;
}

uint32_t
sim_cast_limit(const struct sim_cast *cast)
{
    const struct sim_event *end =
            cast->end > cast->first ? sim_cast_event(cast, cast->end - 1) : NULL;
    bool limit =
            end != NULL && end->kind == SIM_EVENT_END &&
            (end->argument == SIM_VERDICT_LIVELOCK || end->argument == SIM_VERDICT_STEP_LIMIT ||
                    end->argument == SIM_VERDICT_TIME_LIMIT);
    return limit ? (uint32_t)end->argument : (uint32_t)SIM_VERDICT_PASS;
}

uint64_t
sim_cast_blocked(const struct sim_cast *cast, uint32_t part, uint64_t before)
{
    rt_assert(before <= cast->end);
    for (uint64_t i = before; i-- > cast->first;) {
        uint32_t kind = sim_cast_event(cast, i)->kind;
        bool either = kind == SIM_EVENT_BLOCK || kind == SIM_EVENT_UNBLOCK;
        if (either && sim_cast_part_of(cast, i) == part) {
            return kind == SIM_EVENT_BLOCK ? i : SIM_EVENT_NONE;
        }
    }
    return SIM_EVENT_NONE;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

void
sim_cast_put_part(const struct sim_cast *cast, struct sim_page *page, uint32_t part)
{
    static const char *const kinds[] = {"the world", "task", "loop", "source", "fault", "actor"};
    if (part == 0 || part >= cast->count) {
        sim_page_put(page, "the world");
        return;
    }
    const struct sim_part *who = &cast->parts[part];
    if (who->name != NULL) {
        sim_page_clean(page, who->name);
    } else if (who->actor != 0) {
        rt_assert(who->kind <= SIM_ACTOR_OTHER);
        sim_page_printf(page, "%s %u", kinds[who->kind], who->actor);
    } else {
        sim_cast_put_object(cast, page, who->object, part);
    }
}

bool
sim_cast_has_name(const struct sim_cast *cast, uint32_t object)
{
    uint32_t part = sim_cast_object(cast, object);
    return (part != SIM_PART_NONE && cast->parts[part].name != NULL) ||
           named(cast, SIM_TEXT_OBJECT, object) != NULL;
}

static const char *
nickname(const struct sim_cast *cast, uint32_t object)
{
    for (uint32_t i = 0; i < cast->nicknames_count; i++) {
        if (cast->nicknames[i].object == object) {
            return cast->nicknames[i].reason;
        }
    }
    return NULL;
}

bool
sim_cast_same_name(const struct sim_cast *cast, uint32_t part, uint32_t object)
{
    const char *name = named(cast, SIM_TEXT_OBJECT, object);
    return part < cast->count && name != NULL && cast->parts[part].name != NULL &&
           strcmp(name, cast->parts[part].name) == 0;
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

/* "timer 2 of pinger", or, for a slot that something was waited for in, what that was. */
static void
put_made_up_name(
        const struct sim_cast *cast, struct sim_page *page, uint32_t object, uint32_t seen_by)
{
    const char *reason = nickname(cast, object);
    if (reason != NULL) {
        sim_page_put(page, "\"");
        sim_page_clean(page, reason);
        sim_page_put(page, "\"");
        return;
    }
    uint32_t creator = sim_cast_actor(cast, SIM_OBJECT_ACTOR(object));
    bool shared = *number_of(cast, object) == MANY;
    bool own = creator == seen_by && creator != 0 && creator != SIM_PART_NONE;
    sim_page_printf(page, "%s%s %u", own && shared ? "its " : "",
            sim_object_kind_name(SIM_OBJECT_KIND(object)), SIM_OBJECT_NTH(object));
    if (creator == 0) {
        sim_page_put(page, shared ? " of the setup" : "");
    } else if (creator != SIM_PART_NONE && !own) {
        sim_page_put(page, " of ");
        sim_cast_put_part(cast, page, creator);
    }
}

void
sim_cast_put_object(
        const struct sim_cast *cast, struct sim_page *page, uint32_t object, uint32_t part)
{
    if (object == 0) {
        sim_page_put(page, "nothing");
        return;
    }
    const char *name = named(cast, SIM_TEXT_OBJECT, object);
    uint32_t self = sim_cast_object(cast, object);
    if (name != NULL) {
        sim_page_clean(page, name);
    } else if (self != SIM_PART_NONE &&
               (cast->parts[self].name != NULL || cast->parts[self].actor != 0)) {
        sim_cast_put_part(cast, page, self);
    } else {
        put_made_up_name(cast, page, object, part);
    }
}

void
sim_cast_put_wanted(const struct sim_cast *cast, struct sim_page *page, uint32_t object,
        const char *reason, uint32_t part)
{
    if (object == 0) {
        bool said = reason != NULL && reason[0] != '\0';
        sim_page_clean(page, said ? reason : "something without a name");
        return;
    }
    if (says_nothing(reason)) {
        sim_page_put(page, SIM_OBJECT_KIND(object) == RT_OBJECT_TASK ? "the end of " : "");
        sim_cast_put_object(cast, page, object, part);
        return;
    }
    sim_page_clean(page, reason);
    /* "slot 3" says no more than the reason does, nor does a name that is the reason. */
    const char *name = named(cast, SIM_TEXT_OBJECT, object);
    bool same = name != NULL && strcmp(name, reason) == 0;
    if (!same && (SIM_OBJECT_KIND(object) != RT_OBJECT_SLOT || sim_cast_has_name(cast, object))) {
        sim_page_put(page, " (");
        sim_cast_put_object(cast, page, object, part);
        sim_page_put(page, ")");
    }
}

bool
sim_cast_put_place(struct sim_page *page, uint32_t await, uint32_t site)
{
    const struct rt_site *place = sim_site_find(await);
    if (place == NULL) {
        place = sim_site_find(site);
    }
    if (place == NULL) {
        return false;
    }
    sim_page_printf(page, "%s:%u in %s()", sim_site_file(place), place->line, place->function);
    return true;
}
