/*
 * draw.c -- numbers out of choices of at most 64 alternatives.
 *
 * A large domain is drawn in two steps, a class, then a value by halving, so that its edges are
 * drawn often and a shrinker replaces "some number" by "an edge" in one step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <execinfo.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/draws.h"
#include "sim/core/world.h"

/* The call path of the draw, without the frames up to here, which are not the user's. */
static void
note_frames(struct sim_draws *draws)
{
    void *frames[SIM_DRAW_FRAMES];
    int count = backtrace(frames, (int)SIM_DRAW_FRAMES);
    for (int i = 0; i < count; i++) {
        draws->frames[i] = (uintptr_t)frames[i];
    }
    draws->frame_count = count > 0 ? (uint32_t)count : 0;
}

void
sim__note_drawn(struct sim_actor *actor, const struct sim_number *drawn)
{
    struct sim_draws *draws = actor->world->draws;
    uint32_t end = actor->streams[drawn->kind].ordinal;
    if (actor->world->decider.muted || end == drawn->ordinal) {
        return;
    }
    struct sim_number whole = *drawn;
    whole.stream = sim__stream_id(actor, (enum sim_kind)drawn->kind);
    whole.choices = end - drawn->ordinal;
    rt_assert(whole.choices <= SIM_DRAW_CHOICES_MAX);
    rt_assert(whole.lo <= whole.value && whole.value <= whole.hi);
    if (draws->count < SIM_DRAWS_MAX) {
        draws->all[draws->count++] = whole;
    }
    if (draws->asks && whole.stream == draws->stream && draws->ordinal >= whole.ordinal &&
            draws->ordinal < end) {
        draws->found = true;
        draws->asked = whole;
        draws->asked_step = actor->world->step;
        note_frames(draws);
    }
}

static uint64_t
by_halves(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi)
{
    while (hi - lo >= SIM_ALTERNATIVES_MAX) {
        uint64_t middle = lo + (hi - lo) / 2;
        if (sim_actor_choose(actor, kind, 2, SIM_ODDS_EVEN) == 0) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo + sim_actor_choose(actor, kind, (uint32_t)(hi - lo) + 1, SIM_ODDS_EVEN);
}

static uint64_t
draw_range(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi)
{
    if (hi - lo < SIM_DRAW_CLASSES) {
        return lo + sim_actor_choose(actor, kind, (uint32_t)(hi - lo) + 1, SIM_ODDS_EVEN);
    }
    switch (sim_actor_choose(actor, kind, SIM_DRAW_CLASSES, SIM_ODDS_EVEN)) {
    case 0:
        return lo;
    case 1:
        return hi;
    case 2:
        return lo + (hi - lo) / 2;
    case 3:
        return lo + 1;
    default:
        return by_halves(actor, kind, lo, hi);
    }
}

static uint64_t
draw_length(struct sim_actor *actor, uint64_t full)
{
    if (full <= SIM_DRAW_CLASSES) {
        return full - sim_actor_choose(actor, SIM_KIND_LENGTH, (uint32_t)full, SIM_ODDS_EVEN);
    }
    switch (sim_actor_choose(actor, SIM_KIND_LENGTH, SIM_DRAW_CLASSES, SIM_ODDS_EVEN)) {
    case 0:
        return full;
    case 1:
        return 1;
    case 2:
        return full / 2;
    case 3:
        return full - 1;
    default:
        return by_halves(actor, SIM_KIND_LENGTH, 1, full);
    }
}

uint64_t
sim_actor_range(struct sim_actor *actor, enum sim_kind kind, uint64_t lo, uint64_t hi)
{
    rt_assert(lo <= hi);
    uint32_t ordinal = actor->streams[kind].ordinal;
    uint64_t value = draw_range(actor, kind, lo, hi);
    sim__drawn(actor, kind, SIM_DRAW_RANGE, ordinal, lo, hi, value);
    return value;
}

uint64_t
sim_actor_length(struct sim_actor *actor, uint64_t full)
{
    rt_assert(full >= 1);
    uint32_t ordinal = actor->streams[SIM_KIND_LENGTH].ordinal;
    uint64_t value = draw_length(actor, full);
    sim__drawn(actor, SIM_KIND_LENGTH, SIM_DRAW_LENGTH, ordinal, 1, full, value);
    return value;
}
