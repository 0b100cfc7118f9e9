/*
 * swap.c -- the steps of a run in another order: two of them exchanged, the rest as it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/order/swap.h"

#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/decide/choice.h"
#include "sim/core/record/footprint.h"

/* Longer runs are not asked. */
#define STEPS_MAX 4000u

struct step {
    uint64_t from; /* Its events. */
    uint64_t to;
    uint32_t actor;
    uint32_t nth; /* Of its actor, from 0. */
    bool behind;  /* It depends on the step of the first event. */
};

struct steps {
    const struct sim_recorder *recorder;
    struct step all[STEPS_MAX];
    uint32_t count;
};

/* ---- Reading the run. ------------------------------------------------------------------------ */

static uint32_t
nth_of(const struct steps *steps, uint32_t actor)
{
    rt_assert(steps->count <= STEPS_MAX);
    for (uint32_t i = steps->count; i-- > 0;) {
        if (steps->all[i].actor == actor) {
            return steps->all[i].nth + 1;
        }
    }
    return 0;
}

/* False: there are too many, or the record has lost its beginning. */
static bool
read_steps(const struct sim_recorder *recorder, struct steps *ret)
{
    rt_assert(recorder != NULL);
    ret->recorder = recorder;
    ret->count = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        const struct sim_event *event = sim_recorder_event(recorder, i);
        if (event->kind == SIM_EVENT_STEP && ret->count == STEPS_MAX) {
            return false;
        }
        if (event->kind == SIM_EVENT_STEP) {
            uint32_t nth = nth_of(ret, event->actor);
            ret->all[ret->count++] = (struct step){i, i, event->actor, nth, false};
        }
        if (ret->count > 0) {
            ret->all[ret->count - 1].to = i + 1;
        }
    }
    return sim_recorder_first(recorder) == 0;
}

/* The step of an event; `count`: of none. */
static uint32_t
step_of(const struct steps *steps, uint64_t event)
{
    rt_assert(steps->count <= STEPS_MAX);
    uint32_t i = 0;
    while (i < steps->count && (event < steps->all[i].from || event >= steps->all[i].to)) {
        i++;
    }
    return i;
}

/* ---- What depends on what. ------------------------------------------------------------------- */

/* That the clock moves while all are blocked is no actor's step. */
static bool
meet(const struct sim_event *a, const struct sim_event *b)
{
    rt_assert(a != b);
    struct sim_access of_a[SIM_ACCESSES_MAX];
    struct sim_access of_b[SIM_ACCESSES_MAX];
    uint32_t a_count = sim_event_accesses(a, of_a);
    uint32_t b_count = sim_event_accesses(b, of_b);
    for (uint32_t i = 0; i < a_count; i++) {
        for (uint32_t k = 0; k < b_count; k++) {
            if (of_a[i].resource != SIM_RESOURCE_QUIET && sim_accesses_conflict(of_a[i], of_b[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool
depends(const struct steps *steps, const struct step *later, const struct step *earlier)
{
    rt_assert(earlier < later);
    rt_assert(earlier->from < earlier->to);
    bool found = later->actor == earlier->actor;
    for (uint64_t i = earlier->from; i < earlier->to && !found; i++) {
        for (uint64_t k = later->from; k < later->to && !found; k++) {
            found = meet(
                    sim_recorder_event(steps->recorder, i), sim_recorder_event(steps->recorder, k));
        }
    }
    return found;
}

/* Marks what stays behind `first`, up to `second`. False: that one has to as well, whatever becomes
 * of the pair itself. */
static bool
mark_behind(struct steps *steps, uint32_t first, uint32_t second)
{
    rt_assert(first < second);
    rt_assert(second < steps->count);
    steps->all[first].behind = true;
    for (uint32_t i = first + 1; i <= second; i++) {
        for (uint32_t k = first; k < i && !steps->all[i].behind; k++) {
            bool pair = i == second && k == first;
            steps->all[i].behind =
                    steps->all[k].behind && !pair && depends(steps, &steps->all[i], &steps->all[k]);
        }
    }
    return !steps->all[second].behind && steps->all[first].actor != steps->all[second].actor;
}

/* ---- The tape. ------------------------------------------------------------------------------- */

/* The order as a list of places: who is free, the second, then the first and all behind it. */
static void
set_order(const struct steps *steps, uint32_t first, uint32_t second, uint32_t *ret)
{
    rt_assert(first < second);
    rt_assert(second < steps->count);
    uint32_t put = 0;
    for (uint32_t i = 0; i < first; i++) {
        ret[put++] = i;
    }
    for (uint32_t i = first; i <= second; i++) {
        if (!steps->all[i].behind) {
            ret[put++] = i;
        }
    }
    for (uint32_t i = first; i < steps->count; i++) {
        if (i > second || steps->all[i].behind) {
            ret[put++] = i;
        }
    }
}

static struct sim_deviation
entry_of(const struct step *step)
{
    return (struct sim_deviation){
            .stream = step->actor, .ordinal = step->nth, .kind = SIM_KIND_RUN, .n = 2, .index = 1};
}

/* The least actor above `actor`; UINT32_MAX: none. */
static uint32_t
next_actor(const struct steps *steps, uint64_t actor)
{
    rt_assert(steps->count > 0);
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < steps->count; i++) {
        uint32_t other = steps->all[i].actor;
        next = other > actor && other < next ? other : next;
    }
    return next;
}

/* Each step after the one before it: pairs by the actor of the later; those of one actor are in
 * the order of its steps already. */
static void
put_chain(const struct steps *steps, const uint32_t *order, struct sim_tape *ret)
{
    rt_assert(ret->entries != NULL);
    rt_assert(steps->count > 0);
    for (uint32_t actor = next_actor(steps, 0); actor != UINT32_MAX;
            actor = next_actor(steps, actor)) {
        for (uint32_t i = 1; i < steps->count; i++) {
            const struct step *later = &steps->all[order[i]];
            const struct step *earlier = &steps->all[order[i - 1]];
            if (later->actor == actor && earlier->actor != actor) {
                ret->entries[ret->count++] = entry_of(later);
                ret->entries[ret->count++] = entry_of(earlier);
            }
        }
    }
}

bool
sim_swap_tape(const struct sim_recorder *recorder, uint64_t first, uint64_t second,
        const struct sim_tape *tape, struct sim_tape *ret)
{
    rt_assert(tape != NULL);
    rt_assert(first < second);
    struct steps *steps = sim_heap_new(1, sizeof(*steps));
    uint32_t *order = sim_heap_new(STEPS_MAX, sizeof(*order));
    bool made = false;
    *ret = (struct sim_tape){NULL, 0, 2 * STEPS_MAX + tape->count};
    if (read_steps(recorder, steps)) {
        uint32_t at = step_of(steps, first);
        uint32_t late = step_of(steps, second);
        made = at < late && late < steps->count && mark_behind(steps, at, late);
        if (made) {
            ret->entries = sim_heap_new(ret->capacity, sizeof(*ret->entries));
            set_order(steps, at, late, order);
            put_chain(steps, order, ret);
        }
    }
    for (uint32_t i = 0; made && i < tape->count; i++) {
        if (tape->entries[i].kind != SIM_KIND_RUN) {
            ret->entries[ret->count++] = tape->entries[i];
        }
    }
    free(order);
    free(steps);
    return made;
}
