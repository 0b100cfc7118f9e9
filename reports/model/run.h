/*
 * run.h -- a run out of the database, as reports and exports need it.
 *
 * The events of a run are read back into a recorder, so that all words are those of
 * sim/explain/view: who is who (`actor_table`), the life of every wait (`ledger`), what became of
 * the waker (`wake_outcome`). Beside them stand plain arrays:
 *
 *      actors    who acts: one lane each. Index 0 is the world.
 *      steps     one turn each, in order: who, when, woken by which step
 *      wakes     who woke whom, where, and which step polled for it
 *      objects   what was waited for
 *
 * An event is run->recorder's; REPORT_EVENTS(run) goes through them. Its two places are found by
 * report_run_place, its words by report_run_words.
 *
 * Numbers. A failure is called run:ID, and ID is at least 1. The smaller run that tells it, and the
 * twin that passes, have numbers of their own below 0 (sim/store/tables/explained.sql).
 *
 * Trust. A database may come from anywhere: every number in it is checked, and an actor that is
 * none is the world.
 *
 * Ownership. A run owns all of it (malloc) and borrows the places. Once loaded it is pinned: it
 * points into itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_MODEL_RUN_H
#define REPORTS_MODEL_RUN_H

#include "reports/model/places.h"
#include "sim/explain/view/wake_outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_actor {
    char *name;       /* Never NULL; as the scenario gave it, whatever bytes these are. */
    const char *kind; /* "world", "task", "loop", "source", "fault", "other"; static. */
    uint32_t object;  /* The task or source that it is; 0: none. */
    uint32_t index;   /* Of the actor whose steps are its own, as in `events`; 0: it has none. */
    uint32_t lane;    /* Where it stands, from 0: tasks, loops, sources, others, the world. */
    uint32_t steps;   /* How many are its own. */
    bool seen;        /* It does something, or is woken. Who is not needs no lane. */
    bool finished;
};

struct report_step {
    uint64_t first; /* Its events; the first is usually STEP. */
    uint64_t time_ns;
    uint64_t jump_ns; /* By how much the clock moved before it while everybody waited. */
    uint32_t count;
    uint32_t step;  /* From 1; 0: what comes before the first. */
    uint32_t actor; /* Index into actors: the task that is polled, else whose step it is. */
    uint32_t cause; /* The step whose wake led to it; 0: none known. */
};

struct report_wake {
    uint64_t event;     /* WAKE or WAKE-DEAD. */
    uint32_t step;      /* In which it was sent. */
    uint32_t actor;     /* Who sent it; index into actors. */
    uint32_t woken;     /* Who is woken; index into actors. */
    uint32_t poll_step; /* The poll that followed from it; 0: none did. */
    uint32_t how;       /* enum sim_wake: QUEUED, COALESCED, POLLING or DEAD. */
};

struct report_object {
    char *name;
    const char *kind; /* "task", "slot", "timer" …; static. */
    uint32_t object;
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
    struct report_object *objects;
    uint32_t actors_count;
    uint32_t steps_count;
    uint32_t wakes_count;
    uint32_t objects_count;
    char *scenario;
    char *token;   /* "" where none is known. */
    char *library; /* "" for a scenario of rewake itself. */
};

/* Goes through the events: `index` is a uint64_t. */
#define REPORT_EVENTS(run, index) \
    for (uint64_t index = (run)->actor_table.first; index < (run)->actor_table.end; index++)

/*
 * Loads it. A run of which no events are stored has none: steps_count is 0, and only the outcome
 * and the names are there.
 *
 * Errors: UNKNOWN there is no such run; SYSTEM no memory; CORRUPT, HELD as store.h. *ret_run is
 * then empty. report_run_free may follow in any case.
 */
RT_MUST_CHECK enum sim_store_err report_run_load(struct sim_store *store, int64_t number,
        const struct report_places *places, struct report_run *ret_run);
void report_run_free(struct report_run *run);

/* Step `number`; NULL: not on record. */
const struct report_step *report_run_step(const struct report_run *run, uint64_t number);

/* The actor of an event, as an index into actors. */
uint32_t report_run_actor(const struct report_run *run, uint64_t event);

/* The place of an event: its user's line, else the runtime's; NULL: neither is known. */
const struct report_place *report_run_place(const struct report_run *run, uint64_t event);

/* Adds the event in a few words, as `rewake show` has them; false: it has none. */
bool report_run_words(const struct report_run *run, uint64_t event, struct sim_page *page);

/* Adds what happened in a step, with commas; false: nothing that has words. */
bool report_run_step_words(
        const struct report_run *run, const struct report_step *step, struct sim_page *page);

/* Where the waker of a wait was stored; NULL: not known. What became of it is in run->ledger. */
const struct report_place *report_run_wait_place(
        const struct report_run *run, const struct sim_wait *wait);

#ifdef __cplusplus
}
#endif
#endif
