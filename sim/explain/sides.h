/*
 * sides.h -- two runs side by side, from where they part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/view/actor_table.h"

/* The step of each in which they part: the first whose events differ; 0: none. */
void sim_sides_part(const struct sim_actor_table *left, const struct sim_actor_table *right,
        uint64_t *ret_left, uint64_t *ret_right);

/* Adds both, `head_left` and `head_right` above them, as wide as the page: the steps before the
 * parting, a mark, and at most `rows` rows of each after it. Steps in a row that say the same are
 * one row and a count. */
void sim_sides_put(struct sim_page *page, const struct sim_actor_table *left, const char *head_left,
        const struct sim_actor_table *right, const char *head_right, uint32_t rows);
