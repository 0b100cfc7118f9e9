/*
 * phrase.h -- an event in a few words.
 *
 * The words are those of the one who acts: "stores waker for the reply", "fires
 * the reply", "wakes client". Events that say nothing to a reader which the layout
 * does not (a step begins, an actor is announced) have no words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/view/actor_table.h"

/* Adds the words for `event`. False: it has none, nothing was added. */
bool sim_phrase_put(
        const struct sim_actor_table *actor_table, struct sim_page *page, uint64_t event);

/* What a poll has answered: "pending"; static. */
const char *sim_phrase_answer(uint64_t answer);

/* Adds a deadline: a time, or "never". */
void sim_phrase_put_due(struct sim_page *page, uint64_t deadline_ns);

/* Adds the words of all events of `step` before event `until`, with commas; false: there are
 * none. */
bool sim_phrase_put_step(const struct sim_actor_table *actor_table, struct sim_page *page,
        uint64_t step, uint64_t until);

/* The task that is polled in `step`, else the part that takes it; SIM_PART_NONE: no such step. */
uint32_t sim_phrase_whose_step(const struct sim_actor_table *actor_table, uint64_t step);

/* Adds the comma (or the blank) that stands between what is there from `start` on and `next`. */
void sim_phrase_join(struct sim_page *page, size_t start, const char *next);

/* Who is woken by `event`, if another actor wakes it; SIM_PART_NONE. */
uint32_t sim_phrase_woken(const struct sim_actor_table *actor_table, uint64_t event);
