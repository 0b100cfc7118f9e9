/*
 * key.c -- how large a failing run is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/core/actor.h"
#include "sim/engine/shrink/shrink_priv.h"

bool
sim__shrink_may_set(uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    switch (index) {
    case SIM_OPTION_faults:
    case SIM_OPTION_spurious_one_in:
    case SIM_OPTION_late_one_in:
    case SIM_OPTION_slow_one_in:
    case SIM_OPTION_fault_one_in:
    case SIM_OPTION_audit_one_in:
        return true;
    default:
        return false;
    }
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
        count += sim__shrink_may_set(i) && differs;
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
    const int orders[] = {
            order_of(a->options, b->options),
            order_of(a->faults, b->faults),
            order_of(a->actors, b->actors),
            order_of(a->preemptions, b->preemptions),
            order_of(a->deviations, b->deviations),
            order_of(a->blocks, b->blocks),
            order_of(a->sim_ns, b->sim_ns),
            order_of(a->steps, b->steps),
    };
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return 0;
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
