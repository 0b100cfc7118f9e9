/*
 * attempt.c -- the wakes of both runs, and how far a waker comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/attempt/attempt.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/engine/worker/single.h"
#include "sim/explain/attempt/priv.h"
#include "sim/explain/look/actor_trace.h"
#include "sim/explain/look/wakes.h"

#define INLINED_MAX 8u
#define CHAIN_MAX 16u

/* Processes that may die of words that are changed. */
#define DEATHS_MAX 10u

static void
run_candidate(const struct sim_counterfactual_runs *runs, const struct sim_tape *tape,
        void (*analyze)(
                struct sim_world *, const struct sim_case *, const struct sim_outcome *, void *),
        void *analysis)
{
    struct sim_single single;
    const struct sim_run_spec candidate = {
            .scenario = runs->scenario,
            .options = *runs->options,
            .seed = runs->seed,
            .how = SIM_HOW_LENIENT,
            .tape = tape,
            .analyze = analyze,
            .analysis = analysis,
    };
    if (sim_budget_left(runs->budget) &&
            sim_single_init(&single, NULL, &sim_shared_for_candidates, runs->hang_ms)) {
        single.budget = runs->budget;
        (void)sim_single_run(&single, &candidate);
        sim_single_fini(&single);
    }
}

/* ---- The way to the wake. -------------------------------------------------------------------- */

/* The reader's functions on a stack, innermost first; the outermost of several is a thread's own,
 * which is nowhere that one comes to. */
static uint32_t
chain_of(struct sim_places *places, const struct sim_walk_stop *stop, struct sim_place *ret)
{
    struct sim_place found[INLINED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        uint32_t here = sim_places_at(places, stop->frames[i], true, found, INLINED_MAX);
        for (uint32_t k = 0; k < here && count < CHAIN_MAX; k++) {
            if (sim_place_is_readers(&found[k]) && !sim_place_is_runtime(&found[k])) {
                ret[count++] = found[k];
            }
        }
    }
    return count > 1 ? count - 1 : count;
}

/* How far `trace` comes on that way: the function, and in which step. */
static bool
reaches(struct sim_places *places, const struct sim_actor_trace *trace,
        const struct sim_walk_stop *would, struct sim_attempt *attempt)
{
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
                attempt->step = sim_actor_trace_step(trace, walked[k].last);
                return true;
            }
        }
    }
    return false;
}

/* Where nobody who sleeps is woken there either: what the same one does there alone in its last
 * steps; here it comes as far as the function that it left last. */
static void
find_beyond_in(struct sim_places *places, const struct sim_actor_trace *trace,
        const struct sim_actor_trace *there, struct sim_attempt *attempt)
{
    struct sim_walked only[SIM_PATH_FUNCTIONS];
    struct sim_walked walked[SIM_PATH_FUNCTIONS];
    uint32_t count = sim_path_functions(places, &trace->path, walked);
    if (sim_actor_trace_only(places, there, trace, only) == 0) {
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

/* ---- Whom it wakes. -------------------------------------------------------------------------- */

/* The last wake of the loop, by somebody else; `by_id` 0: whoever. NULL: there is none. */
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

/* The step after the loop's last wake here: what was on the way before has come. */
static uint64_t
after_last_wake(const struct sim_wakes *wakes, uint32_t loop_id)
{
    const struct sim_loop_wake *wake = last_wake(wakes, loop_id, 0);
    return wake != NULL ? wake->step + 1 : 1;
}

static void
find_instead(const struct sim_wakes *wakes, struct sim_attempt *attempt)
{
    for (uint32_t i = 0; i < wakes->count && attempt->instead_id == 0; i++) {
        const struct sim_loop_wake *wake = &wakes->all[i];
        if (wake->step == attempt->step && wake->blocked && wake->loop_id != attempt->loop_id &&
                wake->loop_id != attempt->by_id) {
            attempt->instead_id = wake->loop_id;
            attempt->instead = wake->stack;
        }
    }
}

/* ---- The flag. ------------------------------------------------------------------------------- */

/* Whether the innermost function that is known there is the reader's. */
static bool
is_readers(struct sim_places *places, const struct sim_walk_stop *stop)
{
    struct sim_place found[INLINED_MAX];
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        if (sim_places_at(places, stop->frames[i], i > 0, found, INLINED_MAX) > 0) {
            return sim_place_is_readers(&found[0]) && !sim_place_is_runtime(&found[0]);
        }
    }
    return false;
}

static void
find_flag(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        struct sim_attempt *attempt)
{
    struct sim__attempt_shared *shared = mmap(NULL, sizeof(struct sim__attempt_shared),
            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return;
    }
    shared->loop_id = attempt->loop_id;
    shared->by_id = attempt->by_id;
    shared->step = attempt->step;
    shared->there_step = attempt->there_step;
    run_candidate(runs, runs->passing, sim_changes_run, &shared->there);
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget);
            deaths++) {
        run_candidate(runs, runs->failing, sim__attempt_ask, shared);
    }
    if (shared->count > 0) {
        run_candidate(runs, runs->passing, sim__attempt_walk_there, shared);
    }
    for (uint32_t i = 0; i < shared->count && attempt->flag_step == 0; i++) {
        const struct sim__attempt_flag *flag = &shared->flags[i];
        if (is_readers(places, &flag->writer)) {
            attempt->flag_step = flag->change.step;
            attempt->flag_id = flag->change.actor_id;
            attempt->flag = flag->writer;
            attempt->clear_step = flag->clear.step;
            attempt->clear_id = flag->clear.actor_id;
            attempt->clear = flag->clear_writer;
        }
    }
    (void)munmap(shared, sizeof(*shared));
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static void
find_trace(const struct sim_counterfactual_runs *runs, struct sim_places *places, uint64_t from,
        uint64_t to, struct sim_attempt *attempt)
{
    struct sim_actor_trace *trace = sim_actor_trace_new(attempt->by_id, from, to);
    if (trace != NULL) {
        run_candidate(runs, runs->failing, sim_actor_trace_run, trace);
        attempt->has_turned = reaches(places, trace, &attempt->would, attempt);
        sim_actor_trace_free(&trace);
    }
}

static void
find_beyond(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        struct sim_attempt *attempt)
{
    struct sim_actor_trace *trace =
            sim_actor_trace_new(attempt->by_id, attempt->step, attempt->step);
    struct sim_actor_trace *there = sim_actor_trace_new(attempt->by_id, 1, UINT32_MAX);
    if (trace != NULL && there != NULL) {
        run_candidate(runs, runs->failing, sim_actor_trace_run, trace);
        run_candidate(runs, runs->passing, sim_actor_trace_run, there);
        find_beyond_in(places, trace, there, attempt);
    }
    sim_actor_trace_free(&trace);
    sim_actor_trace_free(&there);
}

static void
find(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        const struct sim_wakes *here, const struct sim_wakes *there, struct sim_attempt *attempt)
{
    bool known = attempt->step != 0;
    attempt->loop_id = here->loop_id;
    attempt->blocked_step = here->blocked_step;
    const struct sim_loop_wake *would = last_wake(there, attempt->loop_id, attempt->by_id);
    if (would != NULL) {
        attempt->would = would->stack;
        attempt->there_step = would->step;
        attempt->by_id = would->by_id;
        find_trace(runs, places, known ? attempt->step : after_last_wake(here, attempt->loop_id),
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
sim_attempt_find(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        uint32_t actor, uint32_t by_id, uint64_t step, struct sim_attempt *ret_attempt)
{
    struct sim_wakes *here = sim_wakes_new(actor);
    struct sim_wakes *there = sim_wakes_new(0);
    *ret_attempt = (struct sim_attempt){.by_id = by_id, .step = step};
    if (here != NULL && there != NULL && places != NULL && runs->passing != NULL) {
        run_candidate(runs, runs->failing, sim_wakes_run, here);
        run_candidate(runs, runs->passing, sim_wakes_run, there);
        if (here->loop_id != 0) {
            find(runs, places, here, there, ret_attempt);
        }
    }
    sim_wakes_free(&here);
    sim_wakes_free(&there);
}
