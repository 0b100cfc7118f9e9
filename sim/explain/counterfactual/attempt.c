/*
 * attempt.c -- the wakes of both runs, and how far a waker gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/counterfactual/attempt.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/look/changes.h"
#include "sim/explain/look/trace.h"
#include "sim/explain/look/wakes.h"

#define CHAIN_MAX 16u
#define FLAGS_MAX 8u

/* Bounds of the search for a flag: processes that may die of it, questions, and their steps. */
#define DEATHS_MAX 10u
#define TRIES_MAX 200u
#define STEPS_MAX UINT64_C(100000)

/* ---- The call path to the wake. -------------------------------------------------------------- */

/* The reader's functions on a stack, innermost first; the outermost of several is a thread's own,
 * which no step enters. */
static uint32_t
chain_of(struct sim_places *places, const struct sim_walk_stop *stop, struct sim_place *ret)
{
    struct sim_place found[SIM_INLINED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        uint32_t here = sim_places_at(places, stop->frames[i], true, found, SIM_INLINED_MAX);
        for (uint32_t k = 0; k < here && count < CHAIN_MAX; k++) {
            if (sim_place_is_readers(&found[k]) && !sim_place_is_runtime(&found[k])) {
                ret[count++] = found[k];
            }
        }
    }
    return count > 1 ? count - 1 : count;
}

/* How far `trace` gets along that call path: the function, and in which step. */
static bool
reaches(struct sim_places *places, const struct sim_trace *trace, const struct sim_walk_stop *would,
        struct sim_attempt *attempt)
{
    rt_assert(would != NULL);
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    struct sim_place chain[CHAIN_MAX];
    uint32_t length = chain_of(places, would, chain);
    uint32_t count = length > 0 ? sim_path_functions(places, &trace->path, walked) : 0;
    for (uint32_t i = 0; i < length; i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (walked[k].entered != UINT32_MAX &&
                    strcmp(walked[k].place.function, chain[i].function) == 0 &&
                    strcmp(walked[k].place.file, chain[i].file) == 0) {
                attempt->turned = walked[k].place;
                attempt->step = sim_trace_step(trace, walked[k].last);
                return true;
            }
        }
    }
    return false;
}

/* Where no blocked loop is woken there either: what the same actor does there alone in its last
 * steps; here it gets as far as the function that it left last. */
static void
compare(struct sim_places *places, const struct sim_trace *here, const struct sim_trace *there,
        struct sim_attempt *attempt)
{
    rt_assert(!attempt->has_beyond);
    struct sim_walked only[SIM_PATH_FUNCTIONS];
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    uint32_t count = sim_path_functions(places, &here->path, walked);
    if (sim_trace_only(places, there, here, only) == 0) {
        return;
    }
    for (uint32_t k = 0; k < count && !attempt->has_turned; k++) {
        if (walked[k].entered != UINT32_MAX && !sim_place_is_runtime(&walked[k].place)) {
            attempt->turned = walked[k].place;
            attempt->has_turned = true;
        }
    }
    attempt->beyond = only[0].place;
    attempt->has_beyond = attempt->has_turned;
}

/* ---- Which loop it wakes. -------------------------------------------------------------------- */

/* The last wake of the loop by another actor, `by_id` or (0) any. NULL: there is none. */
static const struct sim_loop_wake *
last_wake(const struct sim_wakes *wakes, uint32_t loop_id, uint32_t by_id)
{
    for (uint32_t i = wakes->count; i-- > 0;) {
        const struct sim_loop_wake *wake = &wakes->all[i];
        if (wake->loop_id == loop_id && wake->blocked && wake->by_id != loop_id &&
                (by_id == 0 || wake->by_id == by_id)) {
            return wake;
        }
    }
    return NULL;
}

/* The step after the loop's last wake here: what was sent before has arrived. */
static uint64_t
after_last_wake(const struct sim_wakes *wakes, uint32_t loop_id)
{
    rt_assert(loop_id != 0);
    const struct sim_loop_wake *wake = last_wake(wakes, loop_id, 0);
    return wake != NULL ? wake->step + 1 : 1;
}

static void
find_instead(const struct sim_wakes *wakes, struct sim_attempt *attempt)
{
    rt_assert(attempt->instead_id == 0);
    for (uint32_t i = 0; i < wakes->count && attempt->instead_id == 0; i++) {
        const struct sim_loop_wake *wake = &wakes->all[i];
        if (wake->step == attempt->step && wake->blocked && wake->loop_id != attempt->loop_id &&
                wake->loop_id != attempt->by_id) {
            attempt->instead_id = wake->loop_id;
            attempt->instead = wake->stack;
        }
    }
}

/* ---- The flag: in the worker. ---------------------------------------------------------------- */

/* A word that stops the waker; some are the simulator's own. */
struct flag {
    struct sim_change change; /* After which it does. */
    struct sim_walk_stop writer;
    struct sim_change clear; /* The change of the passing run that clears it; step 0: none. */
    struct sim_walk_stop clear_writer;
};

/* In shared memory. */
struct flags {
    struct sim_attempt attempt; /* What was known before. */
    struct sim_changes here;
    struct sim_changes there;
    struct sim_tries tries;
    bool listed;
    bool done;
    uint32_t count;
    struct flag all[FLAGS_MAX];
};

static const struct sim_actor *
actor_of(const struct sim_world *world, uint32_t id)
{
    rt_assert(id != 0);
    for (uint32_t i = 1; i < world->actor_count; i++) {
        if (world->actors[i]->id == id) {
            return world->actors[i];
        }
    }
    return NULL;
}

/* Whether the waker's step wakes the loop where it finds the bytes as before the change. */
static bool
is_woken_without(const struct sim_experiment *experiment, const struct sim_attempt *attempt,
        const struct sim_change *change)
{
    struct sim_world *world = experiment->world;
    bool woken = false;
    rt_assert(attempt->step > 0);
    if (sim_experiment_at(experiment, attempt->step - 1) && sim_word_is_in(world, change->offset)) {
        const struct sim_actor *loop = actor_of(world, attempt->loop_id);
        if (loop != NULL && !loop->enabled && !loop->done) {
            sim_word_undo(world, change);
            woken = sim_world_continue(world, (struct sim_stop){attempt->step, false}) &&
                    world->stepping->id == attempt->by_id && loop->enabled;
        }
    }
    sim_world_drop(world);
    return woken;
}

/* Whether the change gives the flag's bits the value that they need. */
static bool
is_cleared_by(const struct sim_change *change, const struct sim_change *flag)
{
    rt_assert(change->step > 0);
    uint64_t mask = sim_change_bytes(flag);
    return change->offset == flag->offset && (sim_change_bytes(change) & mask) != 0 &&
           (change->after & mask) == (flag->before & mask);
}

/* The last time before the loop is woken there that the flag is cleared. */
static void
find_clear(const struct flags *flags, struct flag *flag)
{
    for (uint32_t i = flags->there.count; i-- > 0 && flag->clear.step == 0;) {
        const struct sim_change *change = &flags->there.all[i];
        if (change->step < flags->attempt.there_step && is_cleared_by(change, &flag->change)) {
            flag->clear = *change;
        }
    }
}

static void
try_flags(struct sim_experiment *experiment, struct flags *flags)
{
    rt_assert(flags->count <= FLAGS_MAX);
    uint64_t step = flags->attempt.step;
    for (uint32_t i = flags->here.count; i-- > 0 && flags->count < FLAGS_MAX;) {
        const struct sim_change *change = &flags->here.all[i];
        if (change->step < step && sim_experiment_next(experiment, step) &&
                is_woken_without(experiment, &flags->attempt, change)) {
            flags->all[flags->count++].change = *change;
        }
    }
}

/* sim_analyze_fn, of the failing run: which word stops the waker; then what wrote it. */
static void
find_flags(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    rt_assert(argument != NULL);
    struct flags *flags = argument;
    struct sim_experiment experiment;
    if (!flags->listed) {
        sim_changes_run(world, what, outcome, &flags->here);
        flags->listed = true;
    }
    sim_experiment_begin(&experiment, world, what, outcome);
    uint64_t most = STEPS_MAX / (flags->attempt.step + 1);
    experiment.tries = &flags->tries;
    experiment.tries_max = most < TRIES_MAX ? (uint32_t)most : TRIES_MAX;
    try_flags(&experiment, flags);
    for (uint32_t i = 0; i < flags->count; i++) {
        struct flag *flag = &flags->all[i];
        sim_experiment_find_writer(
                &experiment, &flag->change, flag->change.step, false, &flag->writer);
        find_clear(flags, flag);
    }
    sim_experiment_end(&experiment);
    flags->done = true;
}

/* sim_analyze_fn, of the passing run: what clears it. */
static void
find_clear_writers(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(argument != NULL);
    struct flags *flags = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    for (uint32_t i = 0; i < flags->count; i++) {
        struct flag *flag = &flags->all[i];
        if (flag->clear.step != 0) {
            sim_experiment_find_writer(
                    &experiment, &flag->clear, flag->clear.step, false, &flag->clear_writer);
        }
    }
    sim_experiment_end(&experiment);
}

/* ---- The flag: in the parent. ---------------------------------------------------------------- */

/* Whether the innermost function that is known there is the reader's. */
static bool
is_readers(struct sim_places *places, const struct sim_walk_stop *stop)
{
    rt_assert(stop != NULL);
    struct sim_place found[SIM_INLINED_MAX];
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        if (sim_places_at(places, stop->frames[i], i > 0, found, SIM_INLINED_MAX) > 0) {
            return sim_place_is_readers(&found[0]) && !sim_place_is_runtime(&found[0]);
        }
    }
    return false;
}

static void
take_flag(const struct flag *flag, struct sim_attempt *attempt)
{
    rt_assert(attempt->flag_step == 0);
    attempt->flag_step = flag->change.step;
    attempt->flag_id = flag->change.actor_id;
    attempt->flag = flag->writer;
    attempt->clear_step = flag->clear.step;
    attempt->clear_id = flag->clear.actor_id;
    attempt->clear = flag->clear_writer;
}

static void
find_flag(const struct sim_runs *runs, struct sim_places *places, struct sim_attempt *attempt)
{
    rt_assert(attempt->step > 0);
    struct flags *flags = sim_results_new(sizeof(*flags));
    flags->attempt = *attempt;
    sim_runs_analyze(runs, NULL, runs->passing, sim_changes_run, &flags->there);
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !flags->done && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, NULL, runs->failing, find_flags, flags);
    }
    if (flags->count > 0) {
        sim_runs_analyze(runs, NULL, runs->passing, find_clear_writers, flags);
    }
    for (uint32_t i = 0; i < flags->count && attempt->flag_step == 0; i++) {
        if (is_readers(places, &flags->all[i].writer)) {
            take_flag(&flags->all[i], attempt);
        }
    }
    sim_results_free(&flags);
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static void
find_turned(const struct sim_runs *runs, struct sim_places *places, uint64_t from, uint64_t to,
        struct sim_attempt *attempt)
{
    rt_assert(attempt->by_id != 0);
    struct sim_trace *trace = sim_trace_new(attempt->by_id, from, to);
    sim_runs_analyze(runs, NULL, runs->failing, sim_trace_run_actor, trace);
    attempt->has_turned = reaches(places, trace, &attempt->would, attempt);
    sim_trace_free(&trace);
}

static void
find_beyond(const struct sim_runs *runs, struct sim_places *places, struct sim_attempt *attempt)
{
    rt_assert(attempt->by_id != 0);
    rt_assert(attempt->step != 0);
    struct sim_trace *here = sim_trace_new(attempt->by_id, attempt->step, attempt->step);
    struct sim_trace *there = sim_trace_new(attempt->by_id, 1, UINT32_MAX);
    sim_runs_analyze(runs, NULL, runs->failing, sim_trace_run_actor, here);
    sim_runs_analyze(runs, NULL, runs->passing, sim_trace_run_actor, there);
    compare(places, here, there, attempt);
    sim_trace_free(&here);
    sim_trace_free(&there);
}

static void
find(const struct sim_runs *runs, struct sim_places *places, const struct sim_wakes *here,
        const struct sim_wakes *there, struct sim_attempt *attempt)
{
    rt_assert(here->loop_id != 0);
    bool known = attempt->step != 0;
    attempt->loop_id = here->loop_id;
    attempt->blocked_step = here->blocked_step;
    const struct sim_loop_wake *would = last_wake(there, attempt->loop_id, attempt->by_id);
    if (would != NULL) {
        attempt->would = would->stack;
        attempt->there_step = would->step;
        attempt->by_id = would->by_id;
        find_turned(runs, places, known ? attempt->step : after_last_wake(here, attempt->loop_id),
                known ? attempt->step : UINT32_MAX, attempt);
    }
    if (attempt->step == 0) {
        attempt->by_id = 0;
        return;
    }
    if (would == NULL && attempt->by_id != 0) {
        find_beyond(runs, places, attempt);
    }
    find_instead(here, attempt);
    if (attempt->has_turned && attempt->instead_id == 0 &&
            (known || attempt->step > attempt->blocked_step)) {
        find_flag(runs, places, attempt);
    }
}

void
sim_attempt_find(const struct sim_runs *runs, struct sim_places *places, uint32_t actor,
        uint32_t by_id, uint64_t step, struct sim_attempt *ret_attempt)
{
    rt_assert(runs->failing != NULL);
    rt_assert(ret_attempt != NULL);
    *ret_attempt = (struct sim_attempt){.by_id = by_id, .step = step};
    if (places == NULL || runs->passing == NULL) {
        return;
    }
    struct sim_wakes *here = sim_results_new(sizeof(*here));
    struct sim_wakes *there = sim_results_new(sizeof(*there));
    here->actor = actor;
    sim_runs_analyze(runs, NULL, runs->failing, sim_wakes_run, here);
    sim_runs_analyze(runs, NULL, runs->passing, sim_wakes_run, there);
    if (here->loop_id != 0) {
        find(runs, places, here, there, ret_attempt);
    }
    sim_results_free(&here);
    sim_results_free(&there);
}
