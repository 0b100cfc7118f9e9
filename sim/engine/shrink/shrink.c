/*
 * shrink.c -- pass after pass to a fixpoint, and whether the result holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/shrink/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/engine/shrink/shrink_priv.h"

/* A step of a candidate that does not return for so long hangs; the result is verified with the
 * caller's own patience. */
#define PATIENCE_MS 500u

static void (*const passes[])(struct sim__shrinker *shrinker) = {
        sim__shrink_options,
        sim__shrink_spans,
        sim__shrink_sort,
        sim__shrink_drop,
        sim__shrink_numbers,
        sim__shrink_shift,
        sim__shrink_pairs,
        sim__shrink_lower,
        sim__shrink_earlier,
        sim__shrink_merge,
        sim__shrink_trade,
};

/* Until none of the passes makes it smaller. */
static void
shrink_all(struct sim__shrinker *shrinker)
{
    struct sim_shrink_key before;
    uint64_t digest = 0;
    sim__shrink_prefix(shrinker);
    do {
        before = shrinker->key;
        digest = shrinker->digest;
        rt_assert(shrinker->best.count == shrinker->key.deviations);
        for (size_t i = 0; i < sizeof(passes) / sizeof(*passes) && !shrinker->over; i++) {
            passes[i](shrinker);
        }
        rt_assert(sim_shrink_key_compare(&shrinker->key, &before) <= 0);
    } while (!shrinker->over &&
             (sim_shrink_key_compare(&shrinker->key, &before) != 0 || shrinker->digest != digest));
}

/* ---- Whether it holds. ----------------------------------------------------------------------- */

/* The best run strictly by its tape, in a new process. False: the system refused. */
static bool
run_strict(const struct sim__shrinker *shrinker, bool in_replica, struct sim_single *alone)
{
    rt_assert(shrinker->plan->failure != NULL);
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    bool hangs = shrinker->plan->failure->verdict == SIM_VERDICT_HANG;
    const struct sim_run_spec what = {
            .scenario = shrinker->plan->spec.scenario,
            .options = shrinker->options,
            .seed = SIM_SHRINK_SEED,
            .how = SIM_HOW_STRICT,
            .tape = &shrinker->best,
            .kind = in_replica ? &sim_worker_replica : &sim_worker_usual,
            .hang_ms = shrinker->plan->spec.hang_ms,
            .hurry = hangs ? shrinker->plan->interrupted : NULL,
            .explain = !in_replica,
            .with_past = in_replica,
            .budget = shrinker->plan->spec.budget,
    };
    return sim_single_alone(alone, &what);
}

static bool
is_the_run(const struct sim__shrinker *shrinker, const struct sim_single *alone)
{
    rt_assert(alone != &shrinker->single);
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    bool no_digest = outcome->digest == 0 || shrinker->digest == 0;
    return sim_outcome_same(outcome, shrinker->plan->failure) &&
           (no_digest || outcome->digest == shrinker->digest) && sim_single_mismatch(alone) == NULL;
}

/* A run that hangs is not repeated in the replica, where it would take as long again. */
static void
verify(const struct sim__shrinker *shrinker, struct sim_shrunk *shrunk)
{
    rt_assert(shrunk->end <= SIM_SHRINK_INTERRUPTED);
    struct sim_single replica = {.runs = 0};
    const struct sim_single *asked = &shrunk->alone;
    bool hangs = shrinker->plan->failure->verdict == SIM_VERDICT_HANG;
    bool ran = run_strict(shrinker, false, &shrunk->alone);
    bool same = ran && is_the_run(shrinker, &shrunk->alone);
    if (same && !hangs) {
        asked = &replica;
        ran = run_strict(shrinker, true, &replica);
        same = ran && is_the_run(shrinker, &replica);
    }
    if (!ran) {
        shrunk->end = SIM_SHRINK_SYSTEM;
        const char *error = asked->worker.error;
        (void)snprintf(shrunk->error, sizeof(shrunk->error), "%s",
                error[0] != '\0' ? error : "the time is up");
    } else if (!same) {
        shrunk->end = SIM_SHRINK_UNSTABLE;
    }
    sim_single_fini(&replica);
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static void
shrink_with(struct sim__shrinker *shrinker, struct sim_shrunk *shrunk)
{
    rt_assert(shrinker->single.worker.shared != NULL);
    shrinker->single.budget = shrinker->plan->spec.budget;
    if (sim__shrink_begin(shrinker)) {
        shrunk->from = shrinker->key;
        shrink_all(shrinker);
    }
    shrunk->end = shrinker->over ? shrinker->end : SIM_SHRINK_MINIMAL;
    rt_assert(shrunk->end == SIM_SHRINK_NOT_AGAIN || shrunk->end == SIM_SHRINK_SYSTEM ||
              sim_shrink_key_compare(&shrinker->key, &shrunk->from) <= 0);
    shrunk->to = shrinker->key;
    shrunk->replays = shrinker->replays;
    shrunk->options = shrinker->options;
    if (shrunk->end == SIM_SHRINK_SYSTEM) {
        (void)snprintf(shrunk->error, sizeof(shrunk->error), "%s", shrinker->single.worker.error);
    } else if (shrunk->end != SIM_SHRINK_NOT_AGAIN) {
        verify(shrinker, shrunk);
    }
}

void
sim_shrink(const struct sim_shrink_plan *plan, struct sim_shrunk *ret_shrunk)
{
    rt_assert(plan->spec.scenario != NULL);
    rt_assert(plan->spec.tape != NULL && plan->failure != NULL);
    struct sim__shrinker *shrinker = sim_heap_new(1, sizeof(*shrinker));
    memset(ret_shrunk, 0, sizeof(*ret_shrunk));
    shrinker->plan = plan;
    uint32_t patience_ms = plan->spec.hang_ms < PATIENCE_MS ? plan->spec.hang_ms : PATIENCE_MS;
    shrinker->draws = sim_draws_new();
    sim_single_init(&shrinker->single, &sim_worker_usual, &sim_shared_for_candidates, patience_ms);
    shrink_with(shrinker, ret_shrunk);
    ret_shrunk->tape = shrinker->best;
    free(shrinker->candidate.entries);
    sim_single_fini(&shrinker->single);
    sim_draws_free(&shrinker->draws);
    free(shrinker);
}

void
sim_shrunk_done(struct sim_shrunk *shrunk)
{
    free(shrunk->tape.entries);
    shrunk->tape = (struct sim_tape){NULL, 0, 0};
    sim_single_fini(&shrunk->alone);
}

bool
sim_shrunk_holds(const struct sim_shrunk *shrunk)
{
    rt_assert(shrunk->end <= SIM_SHRINK_SYSTEM);
    return shrunk->end <= SIM_SHRINK_INTERRUPTED;
}

const char *
sim_shrink_end_text(enum sim_shrink_end end)
{
    static const char *const texts[] = {
            [SIM_SHRINK_MINIMAL] = "nothing makes it smaller",
            [SIM_SHRINK_REPLAYS] = "no replays are left",
            [SIM_SHRINK_TIME] = "the time is up",
            [SIM_SHRINK_HANGS] = "too many of its replays hung",
            [SIM_SHRINK_INTERRUPTED] = "interrupted",
            [SIM_SHRINK_NOT_AGAIN] = "the failure does not come again from its tape",
            [SIM_SHRINK_UNSTABLE] = "the smallest run is another one in a fresh process",
            [SIM_SHRINK_SYSTEM] = "the system refused",
    };
    rt_assert(end <= SIM_SHRINK_SYSTEM);
    return texts[end];
}
