/*
 * key.c -- how large a failing run is, and its options, which go back to their defaults.
 *
 * Only masks of faults and how often something happens: what else was asked for is the user's, as
 * parameters are, and another program is no smaller failure of this one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/core/actor.h"
#include "sim/engine/shrink/shrink_priv.h"

/* What a sweep draws for each run. */
static bool
may_set(uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return index == SIM_OPTION_faults || index == SIM_OPTION_spurious_one_in ||
           index == SIM_OPTION_late_one_in || index == SIM_OPTION_slow_one_in ||
           index == SIM_OPTION_fault_one_in || index == SIM_OPTION_audit_one_in;
}

static uint32_t
count_options(const struct sim_scenario *scenario, const struct sim_options *options)
{
    rt_assert(scenario != NULL);
    struct sim_options usual;
    uint32_t count = 0;
    sim_options_init(&usual, scenario);
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        bool differs = sim_option_get(options, i) != sim_option_get(&usual, i);
        count += may_set(i) && differs;
    }
    rt_assert(count <= SIM_OPTIONS);
    return count;
}

/* Of a very long run the ring has kept the last part only; that is the same in every replay. */
static void
count_steps(const struct sim_recorder *recorder, struct sim_shrink_key *key)
{
    uint64_t seen[SIM_ACTORS_MAX / 64 + 1] = {0};
    uint32_t last = UINT32_MAX;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->kind != SIM_EVENT_STEP || event->actor > SIM_ACTORS_MAX) {
            continue;
        }
        uint64_t bit = UINT64_C(1) << (event->actor % 64);
        key->actors += (seen[event->actor / 64] & bit) == 0;
        seen[event->actor / 64] |= bit;
        key->blocks += event->actor != last;
        last = event->actor;
    }
    rt_assert(key->actors <= key->blocks);
}

void
sim__shrink_measure(const struct sim_scenario *scenario, const struct sim_options *options,
        const struct sim_tape *tape, const struct sim_outcome *outcome,
        const struct sim_recorder *recorder, struct sim_shrink_key *ret_key)
{
    rt_assert(tape->count <= tape->capacity);
    rt_assert(outcome->verdict < SIM_VERDICTS);
    *ret_key = (struct sim_shrink_key){
            .options = count_options(scenario, options),
            .deviations = tape->count,
            .sim_ns = outcome->sim_ns,
            .steps = outcome->steps,
    };
    for (uint32_t i = 0; i < tape->count; i++) {
        uint8_t kind = tape->entries[i].kind;
        ret_key->faults += kind == SIM_KIND_FAULT;
        ret_key->preemptions += kind == SIM_KIND_RUN || kind == SIM_KIND_SWITCH;
    }
    rt_assert(ret_key->faults + ret_key->preemptions <= ret_key->deviations);
    count_steps(recorder, ret_key);
}

static int
order_of(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int
sim_shrink_key_compare(const struct sim_shrink_key *a, const struct sim_shrink_key *b)
{
    const uint64_t pairs[][2] = {{a->options, b->options}, {a->faults, b->faults},
            {a->actors, b->actors}, {a->preemptions, b->preemptions},
            {a->deviations, b->deviations}, {a->blocks, b->blocks}, {a->sim_ns, b->sim_ns},
            {a->steps, b->steps}};
    int order = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs) && order == 0; i++) {
        order = order_of(pairs[i][0], pairs[i][1]);
    }
    return order;
}

bool
sim__shrink_tape_less(const struct sim_tape *a, const struct sim_tape *b)
{
    rt_assert(a->count <= a->capacity);
    rt_assert(b->count <= b->capacity);
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        const struct sim_deviation *x = &a->entries[i];
        const struct sim_deviation *y = &b->entries[i];
        if (x->ordinal != y->ordinal) {
            return x->ordinal < y->ordinal;
        }
        if (x->index != y->index) {
            return x->index < y->index;
        }
        if (x->stream != y->stream) {
            return x->stream < y->stream;
        }
    }
    return a->count < b->count;
}

/* ---- Options. -------------------------------------------------------------------------------- */

/* All at once, or the one called `only` (SIM_OPTIONS: all). False: none differs. */
static bool
put_back(struct sim__shrinker *shrinker, uint32_t only)
{
    rt_assert(only <= SIM_OPTIONS);
    struct sim_options usual;
    bool differs = false;
    sim_options_init(&usual, shrinker->plan->spec.scenario);
    sim__shrink_reset(shrinker);
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(&usual, i);
        if (may_set(i) && (only == SIM_OPTIONS || only == i) &&
                sim_option_get(&shrinker->options, i) != value) {
            *sim_option_at(&shrinker->candidate_options, i) = value;
            differs = true;
        }
    }
    return differs;
}

void
sim__shrink_options(struct sim__shrinker *shrinker)
{
    rt_assert(shrinker->plan->spec.scenario != NULL);
    bool stay = shrinker->plan->options_stay;
    if (stay || !put_back(shrinker, SIM_OPTIONS) || sim__shrink_try(shrinker)) {
        return;
    }
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (put_back(shrinker, i)) {
            (void)sim__shrink_try(shrinker);
        }
    }
}
