/*
 * counterfactual.c -- having the questions asked, and choosing among the answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/counterfactual/counterfactual.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/engine/worker/single.h"
#include "sim/explain/counterfactual/priv.h"

/* Processes that may die of words that are changed. */
#define DEATHS_MAX 40u

#define INLINED_MAX 8u

static void
run_candidate(struct sim_single *single, const struct sim_counterfactual_runs *runs,
        const struct sim_tape *tape,
        void (*analyze)(
                struct sim_world *, const struct sim_case *, const struct sim_outcome *, void *),
        void *analysis)
{
    const struct sim_run_spec candidate = {
            .scenario = runs->scenario,
            .options = *runs->options,
            .seed = runs->seed,
            .how = SIM_HOW_LENIENT,
            .tape = tape,
            .analyze = analyze,
            .analysis = analysis,
    };
    (void)sim_single_run(single, &candidate);
}

static void
ask_all(const struct sim_counterfactual_runs *runs, struct sim__counterfactual_shared *shared)
{
    struct sim_single single;
    if (sim_single_init(&single, NULL, &sim_shared_for_candidates, runs->hang_ms)) {
        single.budget = runs->budget;
        if (runs->passing != NULL) {
            run_candidate(&single, runs, runs->passing, sim_changes_run, &shared->there);
        }
        for (uint32_t deaths = 0;
                deaths < DEATHS_MAX && !shared->done && sim_budget_left(runs->budget); deaths++) {
            run_candidate(&single, runs, runs->failing, sim__counterfactual_ask, shared);
        }
        if (shared->hit_count > 0) {
            run_candidate(&single, runs, runs->failing, sim__counterfactual_walk_here, shared);
        }
        if (shared->hit_count > 0 && runs->passing != NULL) {
            run_candidate(&single, runs, runs->passing, sim__counterfactual_walk_there, shared);
        }
        sim_single_fini(&single);
    }
}

/* The blocked task writes it itself there; but it is no state of its own, others write it here. */
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

/* How well an answer can be told: 2 where the program's own line wrote the word, 1 where the
 * runtime did so for it, 0 where the word is the simulator's own. */
static uint32_t
worth(const struct sim__counterfactual_shared *shared, const struct sim__counterfactual_hit *hit,
        struct sim_places *places)
{
    struct sim_place found[INLINED_MAX];
    const struct sim_walk_stop *stop = hit->counterfactual.kind == SIM_COUNTERFACTUAL_LOST
                                               ? &hit->counterfactual.eraser
                                               : &hit->counterfactual.writer;
    if (hit->counterfactual.kind <= SIM_COUNTERFACTUAL_DROPPED) {
        return 2;
    }
    if (hit->counterfactual.kind == SIM_COUNTERFACTUAL_ELSEWHERE &&
            !(hit->change.actor_id == hit->waiter_id ? is_of_others(shared, hit)
                                                     : hit->same_wait)) {
        return 0;
    }
    for (uint32_t i = 0; i < stop->frame_count && i < SIM_WALK_FRAMES; i++) {
        if (sim_places_at(places, stop->frames[i], i > 0, found, INLINED_MAX) > 0) {
            /* Who is stored where is no reason to go on. */
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
        uint32_t value =
                hit->counterfactual.pretended == pretended ? worth(shared, hit, places) : 0;
        bool weaker = ret_counterfactual->kind != SIM_COUNTERFACTUAL_NONE &&
                      hit->counterfactual.kind != ret_counterfactual->kind;
        if (value > best && !weaker) {
            best = value;
            *ret_counterfactual = hit->counterfactual;
        }
    }
}

void
sim_counterfactual_find(const struct sim_counterfactual_runs *runs, struct sim_places *places,
        struct sim_counterfactual *ret_counterfactual)
{
    *ret_counterfactual = (struct sim_counterfactual){.kind = SIM_COUNTERFACTUAL_NONE};
    struct sim__counterfactual_shared *shared =
            mmap(NULL, sizeof(struct sim__counterfactual_shared), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || places == NULL) {
        return;
    }
    ask_all(runs, shared);
    choose(shared, places, false, ret_counterfactual);
    if (ret_counterfactual->kind == SIM_COUNTERFACTUAL_NONE) {
        choose(shared, places, true, ret_counterfactual);
    }
    (void)munmap(shared, sizeof(*shared));
}
