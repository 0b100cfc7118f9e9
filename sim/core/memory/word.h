/*
 * word.h -- words of a run's memory, copied out and put in: questions about what a step changed.
 *
 * All of it is unseen by the address sanitizer: what lies in its red zones is read as well. An
 * offset is in bytes from the beginning of the arena, a multiple of 8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/world.h"

/* Where the word lies; valid for the run. */
volatile uint64_t *sim_word_address(const struct sim_world *world, size_t offset);

/* Copies `count` words from `offset` on, which must lie in the arena. */
void sim_words_copy(const struct sim_world *world, size_t offset, uint64_t *to, size_t count);

/* One word that lies in the arena: reads it, writes it. */
uint64_t sim_word_at(const struct sim_world *world, size_t offset);
void sim_word_put(struct sim_world *world, size_t offset, uint64_t value);

/* Whether all of the word lies in the arena. */
bool sim_word_is_in(const struct sim_world *world, size_t offset);

/* A pointer into the arena: a list that is put back in one place only is no list. */
bool sim_word_is_link(const struct sim_world *world, uint64_t value);
