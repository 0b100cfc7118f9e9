/*
 * effect.h -- what one more poll of a blocked actor does, as the set of words that it changes.
 *
 * Right after its own last step a poll for nothing does what a poll for nothing does: it stores its
 * waker again, counts, arms its timer. The same poll later does something else where something was
 * done for it in between, whatever that is and whether or not anything is gained at once. Only
 * explanations ask so; a verdict rests on gains alone (progress.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/judge/spurious_poll.h"
#include "sim/judge/stand.h"

#define SIM_EFFECT_WORDS 2048u

struct sim_effect {
    bool moved; /* It waits for something else then, gains something, or wakes another thread. */
    uint32_t count;                   /* Those that do not fit are left out. */
    uint32_t words[SIM_EFFECT_WORDS]; /* Numbers of words of the arena, in ascending order. */
};

/*
 * Puts `question` at its stop, with all others held back, without the locks that they hold there,
 * and with the clock put back to the actor's last step, so that time makes no difference:
 * *ret_effect are the words that were there before and are changed after, but that of
 * question->patch. False: it cannot be asked, or ends in a verdict.
 */
bool sim_effect_of(struct sim_stand *stand, const struct sim_question *question,
        struct sim_effect *ret_effect);

/*
 * Whether the actor of `question` would do something else at its stop than right after its own last
 * step: then something was done for it in between. *ret_before is what it would do there. False
 * also where it cannot be asked.
 */
bool sim_effect_differs(struct sim_stand *stand, const struct sim_question *question,
        struct sim_effect *ret_before);

/* How many words are in one of the two alone. */
uint32_t sim_effect_distance(const struct sim_effect *a, const struct sim_effect *b);
