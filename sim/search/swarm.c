/*
 * swarm.c -- drawing options, and printing them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/swarm.h"

#include "sim/core/decide/strategies.h"
#include "sim/core/scenario.h"

/* No actor's stream, so that a run's decisions are independent of its options. */
#define STREAM 0x53776172u
#define FACTOR 4u
/* "One in one" would perturb forever. */
#define OFTEN 2u
#define FAULT_FREE_AFTER_MIN 64u
#define FAULT_FREE_DOUBLINGS 6u

_Static_assert(SIM_OPTIONS <= 32, "`given` has a bit for each option");

struct draw {
    uint64_t key;
    uint32_t ordinal;
};

/* A number below `n`. */
static uint32_t
below(struct draw *draw, uint32_t n)
{
    uint32_t bits = (uint32_t)(sim_stream_draw(draw->key, draw->ordinal++) >> 32);
    return (uint32_t)((uint64_t)bits * n >> 32);
}

static uint64_t
frequency(struct draw *draw, uint32_t option, uint64_t one_in)
{
    uint64_t most = sim_option_max(option);
    switch (below(draw, 5)) {
    case 0:
        return one_in;
    case 1:
        return 0;
    case 2:
        return one_in * FACTOR < most ? one_in * FACTOR : most;
    case 3:
        return one_in / FACTOR > OFTEN ? one_in / FACTOR : OFTEN;
    default:
        return OFTEN;
    }
}

static uint64_t
faults_in_force(const struct sim_scenario *scenario, const struct sim_options *options)
{
    return options->faults == SIM_FAULT_FROM_SCENARIO ? scenario->survives : options->faults;
}

/* Some of the permitted faults from `first` to `last`. Makes the same number of draws whatever is
 * permitted, so that one more kind changes no other. */
static uint64_t
some_of(struct draw *draw, uint64_t permitted, uint64_t first, uint64_t last)
{
    uint64_t some = 0;
    for (uint64_t bit = first; bit <= last; bit <<= 1) {
        some |= below(draw, 2) == 0 ? bit & permitted : 0;
    }
    return some;
}

/* A task that is cancelled at every other wait makes no progress: a barrage has to end. */
static uint64_t
early(struct draw *draw, uint64_t declared, bool barrage)
{
    uint64_t steps = (uint64_t)FAULT_FREE_AFTER_MIN << below(draw, FAULT_FREE_DOUBLINGS);
    return below(draw, 2) == 0 && !barrage ? declared : steps;
}

void
sim_swarm_draw(uint64_t seed, const struct sim_scenario *scenario, const struct sim_options *base,
        uint32_t given, struct sim_options *ret_options)
{
    static const uint32_t frequencies[] = {SIM_OPTION_spurious_one_in, SIM_OPTION_late_one_in,
            SIM_OPTION_slow_one_in, SIM_OPTION_fault_one_in};
    struct draw draw = {sim_stream_key(seed, STREAM), 0};
    struct sim_options options = *base;
    bool as_declared = below(&draw, 2) == 0;
    bool barrage = false;
    for (uint32_t i = 0; i < sizeof(frequencies) / sizeof(*frequencies); i++) {
        uint64_t *one_in = sim_option_at(&options, frequencies[i]);
        uint64_t usual = *one_in;
        *one_in = frequency(&draw, frequencies[i], usual);
        barrage = barrage || (*one_in != 0 && *one_in < usual);
    }
    uint64_t permitted = faults_in_force(scenario, base);
    uint64_t faults = some_of(&draw, permitted, 1, SIM_FAULT_NET);
    options.fault_free_after = early(&draw, base->fault_free_after, barrage);
    /* Younger than the draws before, which must stay what they were. */
    faults |= some_of(&draw, permitted, SIM_FAULT_CALLS, SIM_FAULT_ALL);
    options.faults = faults == permitted ? base->faults : faults;
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (as_declared || (given >> i & 1) != 0) {
            *sim_option_at(&options, i) = sim_option_get(base, i);
        }
    }
    *ret_options = options;
}

/* ---- As text. -------------------------------------------------------------------------------- */

void
sim_swarm_text(struct sim_page *page, const struct sim_scenario *scenario,
        const struct sim_options *base, const struct sim_options *drawn)
{
    uint64_t off = faults_in_force(scenario, base) & ~faults_in_force(scenario, drawn);
    const char *before = "";
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(drawn, i);
        if (i != SIM_OPTION_faults && value != sim_option_get(base, i)) {
            sim_page_printf(
                    page, "%s%s=%llu", before, sim_option_name(i), (unsigned long long)value);
            before = ", ";
        }
    }
    if (off != 0) {
        sim_page_printf(page, "%sfaults off:", before);
    }
    for (uint32_t i = 0; i < SIM_FAULTS; i++) {
        if ((off >> i & 1) != 0) {
            sim_page_printf(page, " %s", sim_fault_names[i]);
        }
    }
}
