/*
 * run.c -- a run out of the database: events first, then plain arrays made of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/run.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"
#include "sim/explain/view/phrase.h"

/* ---- The run as a whole. --------------------------------------------------------------------- */

/* A failure; … */
#define FOUND_SQL \
    "SELECT r.seed, r.digest, r.steps, r.sim_ns, r.events, r.decisions, r.deviations, r.verdict," \
    " r.oracle, r.actor, r.object, r.site, r.fail_step, coalesce(d.fail_ns, 0), " \
    "r.missing_wake_step," \
    " coalesce(d.tasks, 0), coalesce(d.audit_step, 0), coalesce(d.actor_name, '')," \
    " coalesce(d.message, ''), s.scenario, coalesce(d.token, ''), coalesce(s.library, '')" \
    " FROM runs AS r JOIN sweeps AS s USING (sweep) LEFT JOIN details AS d USING (run)" \
    " WHERE r.run = ?"

/* … and a run of an explanation. */
#define EXPLAINED_SQL \
    "SELECT t.seed, t.digest, t.steps, t.sim_ns, t.events, t.decisions, t.deviations, t.verdict," \
    " t.oracle, t.actor, t.object, t.site, t.fail_step, d.fail_ns, t.missing_wake_step, d.tasks," \
    " d.audit_step, d.actor_name, d.message, s.scenario, coalesce(d.token, '')," \
    " coalesce(s.library, '')" \
    " FROM explained_runs AS t JOIN details AS d ON d.run = t.shown JOIN runs AS r ON r.run = " \
    "t.run" \
    " JOIN sweeps AS s USING (sweep) WHERE t.shown = ?"

static void
copy_text(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

static uint32_t
narrow(int64_t value)
{
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void
read_outcome(struct report_ask *ask, struct sim_outcome *outcome)
{
    *outcome = (struct sim_outcome){
            .seed = (uint64_t)report_int(ask, 0),
            .digest = (uint64_t)report_int(ask, 1),
            .steps = (uint64_t)report_int(ask, 2),
            .sim_ns = (uint64_t)report_int(ask, 3),
            .events = (uint64_t)report_int(ask, 4),
            .decisions = (uint64_t)report_int(ask, 5),
            .deviations = narrow(report_int(ask, 6)),
            .verdict = (uint8_t)report_int(ask, 7),
            .oracle = (uint8_t)report_int(ask, 8),
            .actor = report_null(ask, 9) ? UINT32_MAX : narrow(report_int(ask, 9)),
            .object = narrow(report_int(ask, 10)),
            .site = narrow(report_int(ask, 11)),
            .fail_step = (uint64_t)report_int(ask, 12),
            .fail_ns = (uint64_t)report_int(ask, 13),
            .missing_wake_step = (uint64_t)report_int(ask, 14),
            .tasks = narrow(report_int(ask, 15)),
            .audit_step = (uint64_t)report_int(ask, 16),
    };
    copy_text(outcome->actor_name, sizeof(outcome->actor_name), report_text(ask, 17));
    copy_text(outcome->message, sizeof(outcome->message), report_text(ask, 18));
}

static enum sim_store_err
load_outcome(struct sim_store *store, struct report_run *run)
{
    bool of_explanation = run->number < 0;
    if (of_explanation && !report_has_table(store, "explained_runs")) {
        return SIM_STORE_UNKNOWN;
    }
    struct report_ask ask = report_ask(store, of_explanation ? EXPLAINED_SQL : FOUND_SQL);
    report_put_int(&ask, run->number);
    bool known = report_row(&ask);
    if (known) {
        read_outcome(&ask, &run->outcome);
        run->scenario = sim_heap_text(report_text(&ask, 19));
        run->token = sim_heap_text(report_text(&ask, 20));
        run->library = sim_heap_text(report_text(&ask, 21));
    }
    enum sim_store_err err = report_done(&ask);
    return err == SIM_STORE_OK && !known ? SIM_STORE_UNKNOWN : err;
}

/* ---- Actors. --------------------------------------------------------------------------------- */

static const char *
kind_name(uint32_t kind)
{
    static const char *const names[] = {"world", "task", "loop", "source", "fault", "other"};
    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "other";
}

static void
make_actors(struct report_run *run)
{
    const struct sim_actor_table *actor_table = &run->actor_table;
    struct sim_page name;
    sim_page_init(&name, false);
    run->actors = sim_heap_new(actor_table->count, sizeof(*run->actors));
    run->actors_count = actor_table->count;
    for (uint32_t i = 0; i < run->actors_count; i++) {
        sim_page_clear(&name);
        sim_actor_table_put_part(actor_table, &name, i);
        run->actors[i] = (struct report_actor){
                .name = sim_heap_text(sim_page_text(&name)),
                .kind = kind_name(actor_table->parts[i].kind),
                .finished = actor_table->parts[i].finished,
        };
    }
    sim_page_fini(&name);
}

/* Lanes from left to right: tasks, loops, sources, the others, and last the world. */
static void
give_lanes(struct report_run *run)
{
    static const uint32_t order[] = {SIM_ACTOR_TASK, SIM_ACTOR_LOOP, SIM_ACTOR_SOURCE,
            SIM_ACTOR_FAULT, SIM_ACTOR_OTHER, SIM_ACTOR_WORLD};
    uint32_t lane = 0;
    for (uint32_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
        for (uint32_t i = 0; i < run->actors_count; i++) {
            if (run->actor_table.parts[i].kind == order[k]) {
                run->actors[i].lane = lane++;
            }
        }
    }
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

static void
step_take(struct report_run *run, struct report_step *step, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(&run->actor_table, index);
    step->count++;
    if (event->kind == SIM_EVENT_STEP) {
        step->time_ns = event->argument;
        step->actor = report_run_actor(run, index);
    }
    if (event->kind == RT_PROBE_POLL) {
        step->actor = report_run_actor(run, index);
        step->cause = event->cause;
    }
}

/* The clock moves at the end of a step, usually of the idle loop, and is shown before the next. */
static void
make_steps(struct report_run *run)
{
    uint32_t capacity = 0;
    uint64_t now_ns = 0;
    uint64_t jump_ns = 0;
    struct report_step *step = NULL;
    REPORT_EVENTS(run, i)
    {
        const struct sim_event *event = sim_actor_table_event(&run->actor_table, i);
        if (event->kind == SIM_EVENT_CLOCK) {
            jump_ns += event->argument > now_ns ? event->argument - now_ns : 0;
            now_ns = event->argument;
        }
        if (step == NULL || step->step != event->step || event->kind == SIM_EVENT_STEP) {
            sim_heap_grow(&run->steps, run->steps_count, &capacity, sizeof(*run->steps));
            step = &run->steps[run->steps_count++];
            *step = (struct report_step){.first = i,
                    .step = event->step,
                    .time_ns = now_ns,
                    .actor = report_run_actor(run, i)};
            if (event->kind == SIM_EVENT_STEP) {
                step->jump_ns = jump_ns;
                jump_ns = 0;
            }
        }
        step_take(run, step, i);
        now_ns = event->kind == SIM_EVENT_STEP ? event->argument : now_ns;
    }
}

/* Which actors take a step, or are woken. */
static void
find_seen(struct report_run *run)
{
    for (uint32_t i = 0; i < run->steps_count; i++) {
        run->actors[run->steps[i].actor].seen |= run->steps[i].step > 0;
    }
    for (uint32_t i = 0; i < run->wakes_count; i++) {
        run->actors[run->wakes[i].woken].seen = true;
    }
}

/* ---- Wakes. ---------------------------------------------------------------------------------- */

static struct report_wake *
add_wake(struct report_run *run, uint32_t *capacity, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(&run->actor_table, index);
    uint32_t woken = sim_actor_table_object(&run->actor_table, event->object);
    sim_heap_grow(&run->wakes, run->wakes_count, capacity, sizeof(*run->wakes));
    run->wakes[run->wakes_count] = (struct report_wake){
            .event = index,
            .step = event->step,
            .actor = report_run_actor(run, index),
            .woken = woken < run->actors_count ? woken : 0,
            .how = event->kind == RT_PROBE_WAKE_DEAD ? SIM_WAKE_DEAD
                   : event->argument == 0            ? SIM_WAKE_QUEUED
                   : event->argument == 1            ? SIM_WAKE_COALESCED
                                                     : SIM_WAKE_POLLING,
    };
    return &run->wakes[run->wakes_count++];
}

/* The wakes of a task since its last poll are a list: each links to the one before by `poll_step`,
 * `last` is the last of them from 1. Gives all of them the step of the poll. */
static void
answer_wakes(struct report_run *run, uint32_t *last, uint32_t step)
{
    for (uint32_t wake = *last; wake != 0;) {
        struct report_wake *answered = &run->wakes[wake - 1];
        wake = answered->poll_step;
        answered->poll_step = step;
    }
    *last = 0;
}

static void
make_wakes(struct report_run *run)
{
    uint32_t capacity = 0;
    uint32_t *last = sim_heap_new(run->actors_count, sizeof(*last)); /* By actor. */
    REPORT_EVENTS(run, i)
    {
        const struct sim_event *event = sim_actor_table_event(&run->actor_table, i);
        if (event->kind == RT_PROBE_POLL) {
            uint32_t part = sim_actor_table_object(&run->actor_table, event->object);
            if (part < run->actors_count) {
                answer_wakes(run, &last[part], event->step);
            }
        } else if (event->kind == RT_PROBE_WAKE || event->kind == RT_PROBE_WAKE_DEAD) {
            struct report_wake *wake = add_wake(run, &capacity, i);
            if (wake->how != SIM_WAKE_DEAD) {
                wake->poll_step = last[wake->woken];
                last[wake->woken] = run->wakes_count;
            }
        }
    }
    for (uint32_t part = 0; part < run->actors_count; part++) {
        answer_wakes(run, &last[part], 0);
    }
    free(last);
}

/* ---- Runnable tasks. ------------------------------------------------------------------------- */

/* A task that is woken during its poll is in the queue again when the poll returns. */
enum { WAITS, QUEUED, POLLED, POLLED_AND_WOKEN };

void
report_run_ready(const struct report_run *run, uint64_t event, uint8_t *ready)
{
    const struct sim_event *what = sim_actor_table_event(&run->actor_table, event);
    uint32_t task = sim_actor_table_object(&run->actor_table, what->object);
    if (task >= run->actors_count || run->actor_table.parts[task].kind != SIM_ACTOR_TASK) {
        return;
    }
    bool polled = ready[task] >= POLLED;
    if (what->kind == RT_PROBE_POST || what->kind == RT_PROBE_WAKE) {
        ready[task] = polled ? POLLED_AND_WOKEN : QUEUED;
    } else if (what->kind == RT_PROBE_POLL) {
        ready[task] = POLLED;
    } else if (what->kind == RT_PROBE_POLLED) {
        ready[task] = ready[task] == POLLED_AND_WOKEN && what->argument == 0 ? QUEUED : WAITS;
    } else if (what->kind == RT_PROBE_COMPLETE || what->kind == RT_PROBE_CANCEL) {
        ready[task] = WAITS;
    }
}

/* ---- Loading. -------------------------------------------------------------------------------- */

static bool
make_arrays(struct report_run *run)
{
    sim_actor_table_make(&run->actor_table, &run->recorder);
    sim_ledger_make(&run->ledger, &run->actor_table);
    sim_wake_outcome_find(&run->ledger, &run->outcome, &run->wake_outcome);
    make_actors(run);
    make_steps(run);
    make_wakes(run);
    give_lanes(run);
    find_seen(run);
    return true;
}

enum sim_store_err
report_run_load(struct sim_store *store, int64_t number, const struct report_places *places,
        struct report_run *ret_run)
{
    *ret_run = (struct report_run){.number = number, .places = places};
    enum sim_store_err err = load_outcome(store, ret_run);
    if (err == SIM_STORE_OK) {
        err = report_recorder_load(store, number, &ret_run->recorder);
    }
    if (err == SIM_STORE_OK && !make_arrays(ret_run)) {
        err = sim_store_refused(store, SQLITE_NOMEM);
    }
    if (err != SIM_STORE_OK) {
        report_run_free(ret_run);
    }
    return err;
}

void
report_run_free(struct report_run *run)
{
    for (uint32_t i = 0; i < run->actors_count; i++) {
        free(run->actors[i].name);
    }
    free(run->actors);
    free(run->steps);
    free(run->wakes);
    free(run->scenario);
    free(run->token);
    free(run->library);
    sim_ledger_free(&run->ledger);
    sim_actor_table_free(&run->actor_table);
    report_recorder_free(&run->recorder);
    *run = (struct report_run){.number = 0};
}

/* ---- Access. --------------------------------------------------------------------------------- */

static int
against_step(const void *number, const void *step)
{
    uint64_t wanted = *(const uint64_t *)number;
    uint64_t has = ((const struct report_step *)step)->step;
    return (wanted > has) - (wanted < has);
}

const struct report_step *
report_run_step(const struct report_run *run, uint64_t number)
{
    return run->steps_count == 0 ? NULL
                                 : bsearch(&number, run->steps, run->steps_count,
                                           sizeof(run->steps[0]), against_step);
}

const struct report_wake *
report_run_unanswered(const struct report_run *run, uint32_t actor)
{
    const struct report_wake *last = NULL;
    for (uint32_t i = 0; i < run->wakes_count; i++) {
        const struct report_wake *wake = &run->wakes[i];
        bool unanswered = wake->poll_step == 0 && wake->how != SIM_WAKE_DEAD;
        last = wake->woken == actor && unanswered ? wake : last;
    }
    return last;
}

uint32_t
report_run_actor(const struct report_run *run, uint64_t event)
{
    uint32_t part = sim_actor_table_part_of(&run->actor_table, event);
    return part < run->actors_count ? part : 0;
}

const struct report_place *
report_run_place(const struct report_run *run, uint64_t event)
{
    const struct sim_event *at = sim_actor_table_event(&run->actor_table, event);
    const struct report_place *place = report_places_find(run->places, at->await);
    return place != NULL ? place : report_places_find(run->places, at->site);
}

bool
report_run_words(const struct report_run *run, uint64_t event, struct sim_page *page)
{
    return sim_phrase_put(&run->actor_table, page, event);
}

bool
report_run_step_words(
        const struct report_run *run, const struct report_step *step, struct sim_page *page)
{
    struct sim_page word;
    size_t start = page->length;
    sim_page_init(&word, false);
    for (uint64_t i = step->first; i < step->first + step->count; i++) {
        sim_page_clear(&word);
        if (sim_phrase_put(&run->actor_table, &word, i)) {
            sim_phrase_join(page, start, sim_page_text(&word));
            sim_page_put(page, sim_page_text(&word));
        }
    }
    sim_page_fini(&word);
    return page->length > start;
}

const struct report_place *
report_run_step_place(const struct report_run *run, const struct report_step *step)
{
    const struct report_place *place = NULL;
    for (uint64_t i = step->first; i < step->first + step->count && place == NULL; i++) {
        uint32_t await = sim_actor_table_event(&run->actor_table, i)->await;
        place = report_places_find(run->places, await);
    }
    return place;
}

const struct report_place *
report_run_wait_place(const struct report_run *run, const struct sim_wait *wait)
{
    const struct report_place *place = report_places_find(run->places, wait->await);
    return place != NULL ? place : report_places_find(run->places, wait->site);
}
