/*
 * try.c -- running a candidate, and taking it over when it is better.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/base/heap.h"
#include "sim/engine/shrink/shrink_priv.h"

/* Candidates that may hang: each costs the single-run worker's hang_ms and a process. */
#define HANGS_MAX 8u
/* A process that dies costs some milliseconds, a hundred times what a small run does. */
#define CRASHES_MAX 400u

void
sim__shrink_cut(struct sim__shrinker *shrinker, uint32_t from, uint32_t to)
{
    const struct sim_tape *best = &shrinker->best;
    struct sim_tape *candidate = &shrinker->candidate;
    rt_assert(from <= to && to <= best->count && best->count <= candidate->capacity);
    memcpy(candidate->entries, best->entries, from * sizeof(*best->entries));
    memcpy(candidate->entries + from, best->entries + to,
            (best->count - to) * sizeof(*best->entries));
    candidate->count = best->count - (to - from);
    memcpy(&shrinker->candidate_options, &shrinker->options, sizeof(shrinker->options));
}

void
sim__shrink_reset(struct sim__shrinker *shrinker)
{
    sim__shrink_cut(shrinker, 0, 0);
}

/* ---- What was tried before. ------------------------------------------------------------------ */

/* True for a candidate that is new, which is remembered. */
static bool
is_new(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->replays < SIM__SHRINK_TRIED);
    const struct sim_tape *tape = &shrinker->candidate;
    uint64_t hash = XXH3_64bits(&shrinker->candidate_options, sizeof(struct sim_options));
    hash = XXH3_64bits_withSeed(tape->entries, tape->count * sizeof(*tape->entries), hash);
    hash += hash == 0;
    uint32_t place = (uint32_t)hash % SIM__SHRINK_TRIED;
    while (shrinker->tried[place] != 0) {
        if (shrinker->tried[place] == hash) {
            return false;
        }
        place = (place + 1) % SIM__SHRINK_TRIED;
    }
    shrinker->tried[place] = hash;
    return true;
}

/* ---- Limits. --------------------------------------------------------------------------------- */

static bool
end_with(struct sim__shrinker *shrinker, enum sim_shrink_end end)
{
    rt_assert(!shrinker->over);
    shrinker->over = true;
    shrinker->end = end;
    return false;
}

/* Whether one more replay may be made. */
static bool
may_go_on(struct sim__shrinker *shrinker)
{
    const struct sim_shrink_plan *plan = shrinker->plan;
    if (shrinker->over) {
        return false;
    }
    if (plan->interrupted != NULL && *plan->interrupted != 0) {
        return end_with(shrinker, SIM_SHRINK_INTERRUPTED);
    }
    if (plan->deadline_ms != UINT64_MAX && sim_clock_ms() >= plan->deadline_ms) {
        return end_with(shrinker, SIM_SHRINK_TIME);
    }
    if (shrinker->replays >= plan->replays_max || shrinker->steps >= SIM_SHRINK_STEPS_MAX ||
            shrinker->crashes >= CRASHES_MAX || shrinker->replays >= SIM__SHRINK_TRIED / 2 ||
            !sim_budget_left(plan->spec.budget)) {
        return end_with(shrinker, SIM_SHRINK_REPLAYS);
    }
    if (shrinker->hangs >= HANGS_MAX) {
        return end_with(shrinker, SIM_SHRINK_HANGS);
    }
    if (shrinker->stall >= SIM__SHRINK_STALL && shrinker->stall_steps >= SIM__SHRINK_STALL_STEPS) {
        return end_with(shrinker, SIM_SHRINK_MINIMAL);
    }
    return true;
}

/* ---- Running. -------------------------------------------------------------------------------- */

/* NULL: it is over. */
static const struct sim_outcome *
run(struct sim__shrinker *shrinker, uint32_t how)
{
    rt_assert(!shrinker->over);
    rt_assert(shrinker->candidate.count <= shrinker->candidate.capacity);
    const struct sim_run_spec candidate = {
            .scenario = shrinker->plan->spec.scenario,
            .options = shrinker->candidate_options,
            .seed = SIM_SHRINK_SEED,
            .how = how,
            .tape = &shrinker->candidate,
            .draws = shrinker->draws,
            .hasty = shrinker->plan->failure->verdict == SIM_VERDICT_LIVELOCK,
    };
    const struct sim_outcome *outcome = sim_single_run(&shrinker->single, &candidate);
    shrinker->replays++;
    if (outcome == NULL) {
        bool refused = shrinker->single.worker.failed;
        (void)end_with(shrinker, refused ? SIM_SHRINK_SYSTEM : SIM_SHRINK_TIME);
        return NULL;
    }
    shrinker->steps += outcome->steps;
    shrinker->stall_steps += outcome->steps;
    shrinker->hangs += outcome->verdict == SIM_VERDICT_HANG;
    shrinker->crashes += outcome->verdict == SIM_VERDICT_CRASH;
    return outcome;
}

static void
make_room(struct sim_tape *tape, uint32_t count)
{
    if (tape->entries == NULL || tape->capacity < count) {
        tape->entries = sim_heap_resize(tape->entries, (size_t)count + 1, sizeof(*tape->entries));
        tape->capacity = count;
    }
    rt_assert(tape->capacity >= count);
}

/* An empty tape may lie nowhere. */
static void
copy_entries(struct sim_deviation *to, const struct sim_tape *from)
{
    rt_assert(from->count == 0 || to != NULL);
    if (from->count > 0) {
        memcpy(to, from->entries, from->count * sizeof(*to));
    }
}

/* A run may write anywhere, so only numbers that can have been drawn are taken. */
static void
take_draws(struct sim__shrinker *shrinker)
{
    const struct sim_draws *draws = shrinker->draws;
    if (draws == NULL) {
        return; /* Not needed. */
    }
    uint32_t count = draws->count < SIM_DRAWS_MAX ? draws->count : SIM_DRAWS_MAX;
    shrinker->drawn_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_number number = draws->all[i];
        if (number.lo <= number.value && number.value <= number.hi) {
            shrinker->drawn[shrinker->drawn_count++] = number;
        }
    }
    rt_assert(shrinker->drawn_count <= count);
}

static void
take_over(struct sim__shrinker *shrinker, const struct sim_tape *done,
        const struct sim_shrink_key *key, uint64_t digest)
{
    rt_assert(done->entries != shrinker->best.entries);
    rt_assert(key->deviations == done->count);
    make_room(&shrinker->best, done->count);
    make_room(&shrinker->candidate, done->count);
    copy_entries(shrinker->best.entries, done);
    shrinker->best.count = done->count;
    shrinker->options = shrinker->candidate_options;
    shrinker->key = *key;
    shrinker->digest = digest;
    take_draws(shrinker);
    rt_assert(shrinker->best.count <= shrinker->candidate.capacity);
    shrinker->stall = 0;
    shrinker->stall_steps = 0;
}

/* What the run that has just ended did, and how large that is. False: it is not the failure. */
static bool
look_at(struct sim__shrinker *shrinker, const struct sim_outcome *outcome,
        struct sim_tape *ret_done, struct sim_shrink_key *ret_key)
{
    rt_assert(outcome->verdict < SIM_VERDICTS);
    if (!sim_outcome_same(outcome, shrinker->plan->failure)) {
        return false;
    }
    *ret_done = sim_single_deviations(&shrinker->single);
    sim__shrink_measure(shrinker->plan->spec.scenario, &shrinker->candidate_options, ret_done,
            outcome, sim_single_recorder(&shrinker->single), ret_key);
    return ret_done->count == outcome->deviations;
}

void
sim__shrink_room(struct sim__shrinker *shrinker, uint32_t count)
{
    make_room(&shrinker->candidate, count);
}

bool
sim__shrink_run_best(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->best.count <= shrinker->best.capacity);
    if (!may_go_on(shrinker)) {
        return false;
    }
    sim__shrink_reset(shrinker);
    const struct sim_outcome *outcome = run(shrinker, SIM_HOW_STRICT);
    return outcome != NULL && sim_outcome_same(outcome, shrinker->plan->failure) &&
           sim_single_mismatch(&shrinker->single) == NULL;
}

static bool
try_as(struct sim__shrinker *shrinker, uint32_t how)
{
    rt_assert(how == SIM_HOW_LENIENT || how == SIM_HOW_ORDERED);
    struct sim_tape done;
    struct sim_shrink_key key;
    if (!may_go_on(shrinker) || !is_new(shrinker)) {
        return false;
    }
    const struct sim_outcome *outcome = run(shrinker, how);
    shrinker->stall++;
    if (outcome == NULL || !look_at(shrinker, outcome, &done, &key)) {
        return false;
    }
    int order = sim_shrink_key_compare(&key, &shrinker->key);
    if (order > 0 || (order == 0 && !sim__shrink_tape_less(&done, &shrinker->best))) {
        return false;
    }
    take_over(shrinker, &done, &key, outcome->digest);
    return true;
}

bool
sim__shrink_try(struct sim__shrinker *shrinker)
{
    return try_as(shrinker, SIM_HOW_LENIENT);
}

/* Such a candidate is never taken for a lenient one: its pairs name actors by small numbers, which
 * no stream has. */
bool
sim__shrink_try_ordered(struct sim__shrinker *shrinker)
{
    return try_as(shrinker, SIM_HOW_ORDERED);
}

bool
sim__shrink_begin(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->best.count == 0);
    rt_assert(!shrinker->over);
    const struct sim_shrink_plan *plan = shrinker->plan;
    struct sim_tape done;
    struct sim_shrink_key key;
    make_room(&shrinker->candidate, plan->spec.tape->count + 1);
    copy_entries(shrinker->candidate.entries, plan->spec.tape);
    shrinker->candidate.count = plan->spec.tape->count;
    shrinker->candidate_options = plan->spec.options;
    const struct sim_outcome *outcome = run(shrinker, SIM_HOW_STRICT);
    shrinker->replays = 0;
    shrinker->hangs = 0;
    if (outcome == NULL) {
        return false;
    }
    if (sim_single_mismatch(&shrinker->single) != NULL ||
            !look_at(shrinker, outcome, &done, &key)) {
        return end_with(shrinker, SIM_SHRINK_NOT_AGAIN);
    }
    take_over(shrinker, &done, &key, outcome->digest);
    return true;
}
