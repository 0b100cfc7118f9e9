/*
 * gains.c -- gains, recorded and compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/gains.h"

#include <stddef.h>

#include "runtime/base/assert.h"

void
sim_gains_clear(struct sim_gains *gains)
{
    gains->count = 0;
    gains->full = false;
}

void
sim_gains_add(struct sim_gains *gains, const struct sim_gain *gain)
{
    rt_assert(gain->kind <= SIM_GAIN_PROGRESS);
    if (gains->count == SIM_GAINS_MAX) {
        gains->full = true;
        return;
    }
    gains->all[gains->count++] = *gain;
}

static bool
is_same(const struct sim_gain *gain, uint32_t kind, uint32_t of)
{
    return gain->kind == kind && gain->of == of;
}

static void
take_out(struct sim_gains *gains, uint32_t place)
{
    rt_assert(place < gains->count);
    gains->count--;
    for (uint32_t i = place; i < gains->count; i++) {
        gains->all[i] = gains->all[i + 1];
    }
}

void
sim_gains_put_back(
        struct sim_gains *gains, uint32_t of, uint64_t amount, uint64_t step, uint32_t actor)
{
    for (uint32_t i = gains->count; i-- > 0 && gains->all[i].step == step && amount > 0;) {
        struct sim_gain *gain = &gains->all[i];
        if (!is_same(gain, SIM_GAIN_CONSUMED, of) || gain->actor != actor) {
            continue;
        }
        uint64_t back = amount < gain->amount ? amount : gain->amount;
        gain->amount -= back;
        amount -= back;
        if (gain->amount == 0) {
            take_out(gains, i);
        }
    }
}

uint32_t
sim_gains_count(const struct sim_gains *gains, uint32_t kind, uint32_t of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < gains->count; i++) {
        count += is_same(&gains->all[i], kind, of);
    }
    return count;
}

bool
sim_gains_is_first(const struct sim_gains *gains, uint32_t place)
{
    rt_assert(place < gains->count);
    const struct sim_gain *gain = &gains->all[place];
    uint32_t first = 0;
    while (!is_same(&gains->all[first], gain->kind, gain->of)) {
        first++;
    }
    return first == place;
}

bool
sim_gains_more(const struct sim_gains *with, const struct sim_gains *without)
{
    for (uint32_t i = 0; i < with->count; i++) {
        const struct sim_gain *gain = &with->all[i];
        if (sim_gains_is_first(with, i) && sim_gains_count(with, gain->kind, gain->of) >
                                                   sim_gains_count(without, gain->kind, gain->of)) {
            return true;
        }
    }
    return false;
}

/* The last one before `place` of that kind and object; NULL: there is none. */
static const struct sim_gain *
before(const struct sim_gains *gains, uint32_t *place, uint32_t kind, uint32_t of)
{
    while (*place > 0) {
        const struct sim_gain *gain = &gains->all[--*place];
        if (is_same(gain, kind, of)) {
            return gain;
        }
    }
    return NULL;
}

bool
sim_gains_earlier(const struct sim_gains *with, const struct sim_gains *without, uint64_t slack_ns,
        uint32_t kind, uint32_t of)
{
    uint32_t place = with->count;
    uint32_t other_place = without->count;
    bool earlier = false;
    const struct sim_gain *other = NULL;
    while ((other = before(without, &other_place, kind, of)) != NULL) {
        const struct sim_gain *gain = before(with, &place, kind, of);
        if (gain == NULL) {
            return false; /* Fewer than without: something was lost. */
        }
        earlier = earlier || (other->at_ns > gain->at_ns && other->at_ns - gain->at_ns > slack_ns);
    }
    return earlier;
}
