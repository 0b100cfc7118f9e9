/*
 * drawn.c -- two runs, and the number that they draw at one place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/drawn.h"

#include "sim/core/decide/choice.h"

/* False: it is not drawn there. */
static bool
look(const struct sim_run_spec *what, const struct sim_deviation *deviation, uint32_t hang_ms,
        struct sim_budget *budget, struct sim_draws *draws)
{
    struct sim_run_spec candidate = *what;
    struct sim_single single;
    draws->asks = true;
    draws->stream = deviation->stream;
    draws->ordinal = deviation->ordinal;
    draws->found = false;
    candidate.draws = draws;
    candidate.texts = false;
    if (!sim_budget_left(budget)) {
        return false;
    }
    sim_single_init(&single, NULL, &sim_shared_for_candidates, hang_ms);
    single.budget = budget;
    bool ran = sim_single_run(&single, &candidate) != NULL;
    sim_single_fini(&single);
    return ran && draws->found && draws->asked.kind == deviation->kind;
}

/* The innermost line that is the reader's. */
static void
find_line(const struct sim_draws *draws, struct sim_places *places, struct sim_place *ret)
{
    struct sim_place found[SIM_INLINED_MAX];
    uint32_t frames = draws->frame_count <= SIM_DRAW_FRAMES ? draws->frame_count : SIM_DRAW_FRAMES;
    for (uint32_t i = 0; places != NULL && i < frames; i++) {
        uint32_t count = sim_places_at(places, draws->frames[i], true, found, SIM_INLINED_MAX);
        for (uint32_t k = 0; k < count; k++) {
            if (sim_place_is_readers(&found[k]) && !sim_place_is_runtime(&found[k])) {
                *ret = found[k];
                return;
            }
        }
    }
}

void
sim_deciding_number_find(const struct sim_run_spec *with, const struct sim_run_spec *without,
        const struct sim_deviation *deviation, uint32_t hang_ms, struct sim_budget *budget,
        struct sim_places *places, struct sim_deciding_number *ret)
{
    struct sim_draws *draws = sim_draws_new();
    *ret = (struct sim_deciding_number){.found = false};
    if (look(with, deviation, hang_ms, budget, draws)) {
        ret->below = draws->asked;
        ret->step = draws->asked_step;
        find_line(draws, places, &ret->place);
        ret->found = true;
        ret->both = look(without, deviation, hang_ms, budget, draws);
        ret->beside = draws->asked;
    }
    sim_draws_free(&draws);
}
