/*
 * run.h -- a run out of the database, as reports and exports need it.
 *
 * The events of a run are read back into a recorder, so that all words are those of
 * sim/explain/view: the actors (`actor_table`), the wake ledger (`ledger`), the outcome of the
 * waker (`wake_outcome`). Plain arrays hold the rest:
 *
 *      actors    one lane each; index 0 is the world
 *      steps     in order: actor, time, the step that woke it
 *      wakes     waker, woken task, line, and the step of the poll that followed
 *
 * An event is one of run->recorder; REPORT_EVENTS(run) iterates over them. report_run_place finds
 * its line, report_run_words its words.
 *
 * Numbers. A failure is called run:ID, and ID is at least 1. The smaller run of its explanation and
 * the passing run have numbers below 0 (sim/store/tables/explained.sql).
 *
 * Trust. A database may come from anywhere: every number in it is checked, and an unknown actor is
 * the world.
 *
 * Ownership. A run owns all of it (malloc) and borrows the places. Once loaded it is pinned: it
 * points into itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/model/places.h"
#include "sim/explain/view/wake_outcome.h"

struct report_actor {
    char *name;       /* Never NULL; any bytes, as the scenario gave them. */
    const char *kind; /* "world", "task", "loop", "source", "fault", "other"; static. */
    uint32_t lane;    /* Its order, from 0: tasks, loops, sources, others, the world. */
    bool seen;        /* It does something, or is woken; else it needs no lane. */
    bool finished;
};

struct report_step {
    uint64_t first; /* Its events; the first is usually STEP. */
    uint64_t time_ns;
    uint64_t jump_ns; /* How far the clock moved before it while all actors waited. */
    uint32_t count;
    uint32_t step;  /* From 1; 0: the setup. */
    uint32_t actor; /* Index into actors: the task that is polled, else the actor of the step. */
    uint32_t cause; /* The step with the wake that caused it; 0: not known. */
};

struct report_wake {
    uint64_t event;     /* WAKE or WAKE-DEAD. */
    uint32_t step;      /* That sent it. */
    uint32_t actor;     /* The waker; index into actors. */
    uint32_t woken;     /* The woken task; index into actors. */
    uint32_t poll_step; /* The poll that it caused; 0: none. */
    uint32_t how;       /* enum sim_wake: QUEUED, COALESCED, POLLING or DEAD. */
};

struct report_run {
    int64_t number;
    struct sim_outcome outcome;
    struct sim_recorder recorder;
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    struct sim_wake_outcome wake_outcome;
    const struct report_places *places;
    struct report_actor *actors;
    struct report_step *steps;
    struct report_wake *wakes;
    uint32_t actors_count;
    uint32_t steps_count;
    uint32_t wakes_count;
    char *scenario;
    char *token;   /* "" where it is not known. */
    char *library; /* "" for a scenario of rewake itself. */
};

/* Iterates over the events: `index` is a uint64_t. */
#define REPORT_EVENTS(run, index) \
    for (uint64_t index = (run)->actor_table.first; index < (run)->actor_table.end; index++)

/*
 * Loads it. A run without stored events has steps_count 0, and only its outcome and names.
 *
 * Errors: UNKNOWN there is no such run; SYSTEM no memory; CORRUPT, HELD as store.h. *ret_run is
 * then empty. report_run_free may follow in any case.
 */
RT_MUST_CHECK enum sim_store_err report_run_load(struct sim_store *store, int64_t number,
        const struct report_places *places, struct report_run *ret_run);
void report_run_free(struct report_run *run);

/* Step `number`; NULL: not on record. */
const struct report_step *report_run_step(const struct report_run *run, uint64_t number);

/* The last wake of `actor` without a later poll; NULL: none. */
const struct report_wake *report_run_unanswered(const struct report_run *run, uint32_t actor);

/* The actor of an event, as an index into actors. */
uint32_t report_run_actor(const struct report_run *run, uint64_t event);

/* The line of an event: in user code, else in the runtime; NULL: not known. */
const struct report_place *report_run_place(const struct report_run *run, uint64_t event);

/* Adds the event in the words of `rewake show`; false: it has none. */
bool report_run_words(const struct report_run *run, uint64_t event, struct sim_page *page);

/* Adds the events of a step, with commas; false: none has words. */
bool report_run_step_words(
        const struct report_run *run, const struct report_step *step, struct sim_page *page);

/* The first line of user code that the step is known to be at; NULL: none. */
const struct report_place *report_run_step_place(
        const struct report_run *run, const struct report_step *step);

/* Notes in `ready`, by actor, which tasks can be polled after this event: they were posted or
 * woken, or are being polled. From zeros, and event by event in order. */
void report_run_ready(const struct report_run *run, uint64_t event, uint8_t *ready);

/* Where the waker of a wait was stored; NULL: not known. */
const struct report_place *report_run_wait_place(
        const struct report_run *run, const struct sim_wait *wait);

/* ---- load.c --------------------------------------------------------------------------------- */

/*
 * Reads what is stored of run `number`. The recorder points to memory from malloc:
 * report_recorder_free. A run without stored events has none. Errors: SYSTEM no memory.
 */
RT_MUST_CHECK enum sim_store_err report_recorder_load(
        struct sim_store *store, int64_t number, struct sim_recorder *ret_recorder);
void report_recorder_free(struct sim_recorder *recorder);
