/*
 * draws.c -- numbers out of choices of at most 64 alternatives, and such choices out of a number.
 *
 * A large domain is drawn in two steps, a class, then a value by halving, so that its edges are
 * drawn often and a shrinker replaces "some number" by "an edge" in one step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/draws.h"

#include <execinfo.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
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

/* ---- Without a run. -------------------------------------------------------------------------- */

struct sim_draws *
sim_draws_new(void)
{
    return sim_heap_map_shared(sizeof(struct sim_draws));
}

void
sim_draws_free(struct sim_draws **draws)
{
    sim_heap_unmap(*draws, sizeof(**draws));
    *draws = NULL;
}

/* As by_halves decides. */
static uint32_t
put_halves(uint64_t lo, uint64_t hi, uint64_t value, struct sim_draw_choice *ret)
{
    uint32_t count = 0;
    while (hi - lo >= SIM_ALTERNATIVES_MAX) {
        uint64_t middle = lo + (hi - lo) / 2;
        bool upper = value > middle;
        ret[count++] = (struct sim_draw_choice){2, upper};
        hi = upper ? hi : middle;
        lo = upper ? middle + 1 : lo;
    }
    ret[count++] = (struct sim_draw_choice){(uint8_t)(hi - lo + 1), (uint8_t)(value - lo)};
    rt_assert(count < SIM_DRAW_CHOICES_MAX); /* The caller adds the class. */
    return count;
}

/* The number of class `nth`, none for the last. */
static uint64_t
of_class(enum sim_draw_form form, uint64_t lo, uint64_t hi, uint32_t nth)
{
    const uint64_t range[] = {lo, hi, lo + (hi - lo) / 2, lo + 1};
    const uint64_t length[] = {hi, 1, hi / 2, hi - 1};
    return form == SIM_DRAW_LENGTH ? length[nth] : range[nth];
}

uint32_t
sim_draw_choices(enum sim_draw_form form, uint64_t lo, uint64_t hi, uint64_t value,
        struct sim_draw_choice ret[SIM_DRAW_CHOICES_MAX])
{
    bool down = form == SIM_DRAW_LENGTH; /* lo is 1 then. */
    bool few = hi - lo < SIM_DRAW_CLASSES;
    if (value < lo || value > hi || (form == SIM_DRAW_PICK && hi - lo >= SIM_ALTERNATIVES_MAX)) {
        return 0;
    }
    if (form == SIM_DRAW_PICK || few) {
        uint64_t index = down ? hi - value : value - lo;
        ret[0] = (struct sim_draw_choice){(uint8_t)(hi - lo + 1), (uint8_t)index};
        return 1;
    }
    for (uint32_t nth = 0; nth + 1 < SIM_DRAW_CLASSES; nth++) {
        if (of_class(form, lo, hi, nth) == value) {
            ret[0] = (struct sim_draw_choice){SIM_DRAW_CLASSES, (uint8_t)nth};
            return 1;
        }
    }
    ret[0] = (struct sim_draw_choice){SIM_DRAW_CLASSES, SIM_DRAW_CLASSES - 1};
    return 1 + put_halves(lo, hi, value, ret + 1);
}
