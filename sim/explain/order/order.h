/*
 * order.h -- two events whose order decides.
 *
 * Sought in the failing run and the nearest that passes, from where they part: two things that
 * both runs do, in one order here and in the other there. First among events that meet in one
 * place (a store and a wake of the same slot, a grant and a retreat of the same semaphore); where
 * there are none, among the functions that both went through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/cause.h"

/* What a run has shown in which the two are exchanged and nothing else (swap.h). */
enum sim_swapped {
    SIM_SWAPPED_NOT_TRIED, /* Functions, and very long runs. */
    SIM_SWAPPED_PASSES,    /* The order decides. */
    SIM_SWAPPED_FAILS,     /* It does not, alone. */
    SIM_SWAPPED_NEVER      /* One depends on the other in more ways: they cannot be exchanged. */
};

struct sim_swap {
    bool found;
    enum sim_swapped swapped;
    uint32_t verdict; /* With FAILS: of that run. */
    bool events;      /* They are events; */
    bool writes; /* … they write one word, and the second writes over what came (cause.h); else they
                    are functions. */
    uint64_t first_event;
    uint64_t second_event;
    struct sim_location first; /* As they are in the failing run. */
    struct sim_location second;
};

/* What is compared; the traces begin where the runs part, NULL: not walked. */
struct sim_run_pair {
    const struct sim_actor_table *failing;
    const struct sim_actor_table *passing;
    uint64_t failing_from; /* The step in which they part. */
    uint64_t passing_from;
    struct sim_places *places;
    const struct sim_path *failing_path;
    const struct sim_path *passing_path;
};

void sim_order_find(const struct sim_run_pair *pair, struct sim_swap *ret_order);

/* Whether in the run of `other` the two events come the other way round; that run is the same as
 * `failing` up to the step of the first. */
bool sim_order_is_swapped(const struct sim_swap *order, const struct sim_actor_table *failing,
        const struct sim_actor_table *other);

/* "passes", "fails", "never", "not-tried"; static. */
const char *sim_swapped_name(enum sim_swapped swapped);
