/*
 * words.c -- decisions and places, in words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/words.h"

#include "sim/core/decide/choice.h"
#include "sim/core/world.h"

uint32_t
sim_stream_part(const struct sim_actor_table *actor_table, uint32_t stream, uint32_t kind)
{
    const struct sim_actor world = {.id = 1};
    if (sim__stream_id(&world, (enum sim_kind)kind) == stream) {
        return 0;
    }
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct sim_actor actor = {.id = (uint32_t)event->argument};
        if (event->kind == SIM_EVENT_ACTOR &&
                sim__stream_id(&actor, (enum sim_kind)kind) == stream) {
            return sim_actor_table_actor(actor_table, event->actor);
        }
    }
    return SIM_PART_NONE;
}

/* Who has the stable id `id`; SIM_PART_NONE. */
static uint32_t
part_of_id(const struct sim_actor_table *actor_table, uint32_t id)
{
    for (uint64_t i = actor_table->first; i < actor_table->end && id != 0; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->kind == SIM_EVENT_ACTOR && (uint32_t)event->argument == id) {
            return sim_actor_table_actor(actor_table, event->actor);
        }
    }
    return SIM_PART_NONE;
}

void
sim_words_put_who(const struct sim_actor_table *actor_table, struct sim_page *page, uint32_t part)
{
    if (part == SIM_PART_NONE) {
        sim_page_put(page, "another actor");
    } else if (part == 0) {
        sim_page_put(page, "the world");
    } else {
        size_t from = page->length;
        sim_page_put(page, "`");
        sim_actor_table_put_part(actor_table, page, part);
        sim_page_put(page, "`");
        sim_page_refer(page, SIM_REF_NAME, from, 0);
    }
}

void
sim_words_put_nth(struct sim_page *page, uint32_t n)
{
    uint32_t last = n % 10;
    bool teen = n % 100 >= 11 && n % 100 <= 13;
    const char *ending = teen        ? "th"
                         : last == 1 ? "st"
                         : last == 2 ? "nd"
                         : last == 3 ? "rd"
                                     : "th";
    sim_page_printf(page, "%u%s", n, ending);
}

static void
put_slow(struct sim_page *page, uint32_t index)
{
    static const char *const ways[] = {"no longer than it costs",
            "until just before what is due next", "until exactly what is due next",
            "past what is due next", "a whole task quota longer"};
    sim_page_printf(page, "lasts %s", ways[index < 5 ? index : 4]);
}

/* "alternative 3 of 5" */
static void
put_alternative(struct sim_page *page, const struct sim_deviation *deviation)
{
    sim_page_printf(page, "alternative %u of %u and not the first", deviation->index + 1u,
            (unsigned)deviation->n);
}

static void
put_run(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation, uint32_t part)
{
    sim_page_put(page, "the ");
    sim_words_put_nth(page, deviation->ordinal + 1);
    sim_page_put(page, " time that ");
    sim_words_put_who(actor_table, page, part);
    sim_page_put(page, " is at the head of the run queue, ");
    sim_words_put_who(actor_table, page, part_of_id(actor_table, deviation->id));
    sim_page_put(page, " goes before it");
}

/* "the host reports `left` late, the 2nd time that it may" */
static void
put_time(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation, uint32_t part, const char *before,
        const char *behind)
{
    sim_page_put(page, before);
    sim_words_put_who(actor_table, page, part);
    sim_page_printf(page, "%s, the ", behind);
    sim_words_put_nth(page, deviation->ordinal + 1);
    sim_page_put(page, " time that this may be");
}

void
sim_words_put_decision(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation)
{
    uint32_t part = sim_stream_part(actor_table, deviation->stream, deviation->kind);
    const char *what = NULL;
    if (deviation->kind == SIM_KIND_RUN) {
        put_run(actor_table, page, deviation, part);
        return;
    }
    switch ((enum sim_kind)deviation->kind) {
    case SIM_KIND_SLOW:
        sim_page_put(page, "the ");
        sim_words_put_nth(page, deviation->ordinal + 1);
        sim_page_put(page, " step of ");
        sim_words_put_who(actor_table, page, part);
        sim_page_put(page, " that may take longer ");
        put_slow(page, deviation->index);
        return;
    case SIM_KIND_LATENCY:
        what = "how long the host takes for it is ";
        break;
    case SIM_KIND_LATE:
        put_time(actor_table, page, deviation, part, "the host reports ", " late");
        return;
    case SIM_KIND_SUBSET:
        what = "a poll of the host reports not all that is ready: ";
        break;
    case SIM_KIND_ORDER:
        what = "what is ready is reported in another order: ";
        break;
    case SIM_KIND_LENGTH:
        what = "fewer bytes are moved than could be: ";
        break;
    case SIM_KIND_SPURIOUS:
        put_time(actor_table, page, deviation, part, "", " is woken, or reported to, for nothing");
        return;
    case SIM_KIND_SWITCH:
        put_time(actor_table, page, deviation, part, "", " gives way before a call of the host");
        return;
    case SIM_KIND_FAULT:
        what = "a fault is injected: ";
        break;
    case SIM_KIND_USER:
        what = "the number that it draws (sim_pick, sim_range) is ";
        break;
    case SIM_KIND_FREEDOM:
        what = "the runtime takes another of its paths: ";
        break;
    case SIM_KIND_RUN:
    case SIM_KIND_AUDIT:
    case SIM_KINDS:
        what = "it is ";
        break;
    }
    if (part == 0 && deviation->kind == SIM_KIND_USER) {
        sim_page_put(page, "the ");
        sim_words_put_nth(page, deviation->ordinal + 1);
        sim_page_put(page, " number that the scenario draws while it is set up (sim_pick, "
                           "sim_range) is ");
    } else {
        sim_page_put(page, "at the ");
        sim_words_put_nth(page, deviation->ordinal + 1);
        sim_page_printf(page, " choice \"%s\" of ", sim_kind_name(deviation->kind));
        sim_words_put_who(actor_table, page, part);
        sim_page_printf(page, " %s", what);
    }
    put_alternative(page, deviation);
}

void
sim_words_put_plain(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_deviation *deviation)
{
    uint32_t part = sim_stream_part(actor_table, deviation->stream, deviation->kind);
    if (deviation->kind == SIM_KIND_RUN) {
        sim_words_put_who(actor_table, page, part);
        sim_page_put(page, " goes first");
    } else if (deviation->kind == SIM_KIND_SLOW) {
        sim_page_put(page, "that step takes no longer");
    } else if (deviation->kind == SIM_KIND_SWITCH) {
        sim_words_put_who(actor_table, page, part);
        sim_page_put(page, " continues");
    } else if (deviation->kind == SIM_KIND_LATE || deviation->kind == SIM_KIND_SPURIOUS) {
        sim_page_put(page, "that is not so");
    } else {
        sim_page_put(page, "it is the first");
    }
}

void
sim_words_put_place(struct sim_page *page, const struct sim_place *place)
{
    if (place->function[0] != '\0') {
        sim_page_printf(page, "in %s() (%s:%u)", place->function, sim_place_file(place),
                (unsigned)place->line);
    }
}
