/*
 * counters.c -- what a run has covered of schedules, as counters that libFuzzer climbs.
 *
 * libFuzzer keeps an input that reaches a new edge of code, or a new value of a counter in the
 * section below. Most of it has a counter for each coverage point of schedules
 * (sim/search/cover/element.h): which wake led to which poll, which waker was replaced, which timer
 * expired before which event, which read saw which write. Some more are for partial orders: by its
 * hash each order has one of 256 values. Nearly every run is a separate order, and with a value for
 * each the corpus would be all runs.
 *
 * FUZZ_NO_COUNTERS=1 leaves them all 0, to measure their effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz/fuzz.h"
#include "fuzz/sim/scenario/scenario.h"
#include "sim/search/cover/observe.h"

#define ELEMENTS 16384u
#define ORDERS 32u

static volatile uint8_t counters[ELEMENTS + ORDERS]
        __attribute__((section("__libfuzzer_extra_counters")));

static struct sim_cover cover;
static struct sim_element elements[SIM_COVER_ELEMENTS_MAX];

static bool
is_off(void)
{
    static int known = -1;
    if (known < 0) {
        const char *off = getenv("FUZZ_NO_COUNTERS");
        known = off != NULL && *off == '1';
    }
    return known == 1;
}

void
scenario_count(const struct sim_recorder *recorder)
{
    struct sim_cover_run run;
    if (is_off()) {
        return;
    }
    uint32_t count = sim_cover_run(&cover, recorder, elements, SIM_COVER_ELEMENTS_MAX, &run);
    for (uint32_t i = 0; i < count; i++) {
        counters[sim_element_id(&elements[i]) % ELEMENTS] = 1;
    }
    if (!run.partial) {
        /* Eight values of a counter are eight features. */
        uint64_t order = run.order_hash;
        counters[ELEMENTS + order % ORDERS] = (uint8_t)(1u << (order / ORDERS % 8));
    }
}
