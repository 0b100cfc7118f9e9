/*
 * counterfactual.c -- the questions' processes, and a choice among the answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/counterfactual/counterfactual.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/counterfactual/priv.h"

/* Processes that may die of words that are changed. */
#define DEATHS_MAX 40u

static void
ask_all(const struct sim_runs *runs, struct sim__counterfactual_shared *shared)
{
    rt_assert(runs->failing != NULL);
    struct sim_single worker;
    sim_single_init(&worker, NULL, &sim_shared_for_candidates, runs->hang_ms);
    if (runs->passing != NULL && shared->of == SIM_COUNTERFACTUAL_OF_RESTS) {
        sim_runs_analyze(runs, &worker, runs->passing, sim_changes_run, &shared->there);
    }
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget);
            deaths++) {
        sim_runs_analyze(runs, &worker, runs->failing, sim__counterfactual_ask, shared);
    }
    if (shared->hit_count > 0) {
        sim_runs_analyze(runs, &worker, runs->failing, sim__counterfactual_walk_here, shared);
    }
    if (shared->hit_count > 0 && runs->passing != NULL) {
        sim_runs_analyze(runs, &worker, runs->passing, sim__counterfactual_walk_there, shared);
    }
    sim_single_fini(&worker);
}

/* The blocked task writes it itself there; but the word is not its own: others write it here. */
static bool
is_of_others(
        const struct sim__counterfactual_shared *shared, const struct sim__counterfactual_hit *hit)
{
    bool others = false;
    for (uint32_t i = 0; i < shared->here.count && !others; i++) {
        const struct sim_change *change = &shared->here.all[i];
        others = change->offset == hit->change.offset && change->actor_id != hit->waiter_id &&
                 (sim_change_bytes(change) & sim_change_bytes(&hit->change)) != 0;
    }
    return others;
}

/* How well an answer can be reported: 2 where the program's own line wrote the word, 1 where the
 * runtime did so for it, 0 where the word is the simulator's own. */
static uint32_t
worth(const struct sim__counterfactual_shared *shared, const struct sim__counterfactual_hit *hit,
        struct sim_places *places)
{
    struct sim_place found[SIM_INLINED_MAX];
    const struct sim_walk_stop *stop =
            hit->found.kind == SIM_COUNTERFACTUAL_LOST ? &hit->found.eraser : &hit->found.writer;
    if (hit->found.kind <= SIM_COUNTERFACTUAL_DROPPED) {
        return 2;
    }
    if (hit->found.kind == SIM_COUNTERFACTUAL_ELSEWHERE &&
            !(hit->change.actor_id == hit->waiter_id ? is_of_others(shared, hit)
                                                     : hit->same_wait)) {
        return 0;
    }
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        if (sim_places_at(places, stop->frames[i], i > 0, found, SIM_INLINED_MAX) > 0) {
            /* Which waker is stored is no reason to make progress. */
            bool waker = strncmp(found[0].file, "runtime/task/", 13) == 0;
            return !sim_place_is_readers(&found[0]) || waker ? 0
                   : sim_place_is_runtime(&found[0])         ? 1
                                                             : 2;
        }
    }
    return 0;
}

static void
choose(const struct sim__counterfactual_shared *shared, struct sim_places *places, bool pretended,
        struct sim_counterfactual *ret_counterfactual)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < shared->hit_count; i++) {
        const struct sim__counterfactual_hit *hit = &shared->hits[i];
        uint32_t value = hit->found.pretended == pretended ? worth(shared, hit, places) : 0;
        bool weaker = ret_counterfactual->kind != SIM_COUNTERFACTUAL_NONE &&
                      hit->found.kind != ret_counterfactual->kind;
        if (value > best && !weaker) {
            best = value;
            *ret_counterfactual = hit->found;
        }
    }
}

void
sim_counterfactual_find(const struct sim_runs *runs, struct sim_places *places,
        enum sim_counterfactual_of of, uint64_t wake_step,
        struct sim_counterfactual *ret_counterfactual)
{
    rt_assert(runs->failing != NULL);
    rt_assert(ret_counterfactual != NULL);
    *ret_counterfactual = (struct sim_counterfactual){.kind = SIM_COUNTERFACTUAL_NONE};
    if (places == NULL) {
        return;
    }
    struct sim__counterfactual_shared *shared = sim_results_new(sizeof(*shared));
    shared->of = of;
    shared->wake_step = wake_step;
    ask_all(runs, shared);
    choose(shared, places, false, ret_counterfactual);
    if (ret_counterfactual->kind == SIM_COUNTERFACTUAL_NONE) {
        choose(shared, places, true, ret_counterfactual);
    }
    ret_counterfactual->left_count = shared->left_count;
    memcpy(ret_counterfactual->left, shared->left, sizeof(shared->left));
    sim_results_free(&shared);
}
