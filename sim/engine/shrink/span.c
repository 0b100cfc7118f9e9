/*
 * span.c -- all deviations that belong together, at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/engine/shrink/shrink_priv.h"

/* What belongs together. A stream is one of an actor and a kind (sim__stream_id), so that less its
 * kind it is the same number for all streams of one actor: a task, a connection, a source. */
struct span {
    uint32_t mask_kind; /* Of kinds; 0: all. */
    uint32_t actor;
    bool any_actor;
};

static uint32_t
actor_of(const struct sim_deviation *deviation)
{
    return deviation->stream - deviation->kind;
}

static bool
is_in(const struct span *span, const struct sim_deviation *deviation)
{
    bool kind = span->mask_kind == 0 || (span->mask_kind >> deviation->kind & 1) != 0;
    return kind && (span->any_actor || actor_of(deviation) == span->actor);
}

static bool
try_without(struct sim__shrinker *shrinker, struct span span)
{
    struct sim_tape *candidate = &shrinker->candidate;
    uint32_t count = 0;
    sim__shrink_reset(shrinker);
    for (uint32_t i = 0; i < candidate->count; i++) {
        if (!is_in(&span, &candidate->entries[i])) {
            candidate->entries[count++] = candidate->entries[i];
        }
    }
    bool less = count < candidate->count;
    candidate->count = count;
    return less && sim__shrink_try(shrinker);
}

/* Whether entry `i` is the first of its actor (with `kind` also: of its stream). */
static bool
is_first(const struct sim_tape *tape, uint32_t i, bool kind)
{
    for (uint32_t k = 0; k < i; k++) {
        const struct sim_deviation *other = &tape->entries[k];
        if (actor_of(other) == actor_of(&tape->entries[i]) &&
                (!kind || other->kind == tape->entries[i].kind)) {
            return false;
        }
    }
    return true;
}

/* All of one actor, or of one kind by one actor; after each success from the start, over what is
 * left. */
static void
drop_actors(struct sim__shrinker *shrinker, bool kind)
{
    for (uint32_t i = 0; i < shrinker->best.count && !shrinker->over;) {
        const struct sim_deviation entry = shrinker->best.entries[i];
        struct span span = {kind ? 1u << entry.kind : 0, actor_of(&entry), false};
        bool first = is_first(&shrinker->best, i, kind);
        if (first && try_without(shrinker, span)) {
            continue; /* Another stands there now. */
        }
        i++;
    }
}

/* From one fault to the last that follows it with nothing of the actor's in between. */
static void
drop_windows(struct sim__shrinker *shrinker)
{
    for (uint32_t i = shrinker->best.count; i > 0 && !shrinker->over;) {
        const struct sim_deviation *entries = shrinker->best.entries;
        uint32_t to = i;
        while (i > 0 && entries[i - 1].kind == SIM_KIND_FAULT) {
            i--;
        }
        if (to - i > 1) {
            sim__shrink_cut(shrinker, i, to);
            (void)sim__shrink_try(shrinker);
            i = i < shrinker->best.count ? i : shrinker->best.count;
        }
        i -= i > 0;
    }
}

void
sim__shrink_spans(struct sim__shrinker *shrinker)
{
    /* In the order of the key; `run` with all of it is the failure in FIFO order. */
    static const enum sim_kind first[] = {SIM_KIND_FAULT, SIM_KIND_RUN};
    for (uint32_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
        (void)try_without(shrinker, (struct span){1u << first[i], 0, true});
    }
    for (uint32_t kind = 0; kind < SIM_KINDS; kind++) {
        (void)try_without(shrinker, (struct span){1u << kind, 0, true});
    }
    drop_windows(shrinker);
    drop_actors(shrinker, false);
    drop_actors(shrinker, true);
}
