/*
 * stacks.h -- where each thread of a program was when the run ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/explain/view/actor_table.h"

/* Adds a line for each thread that has not ended: its name, and its call stack in the user's code.
 * Nothing where the record has no stacks: only threads have them. */
void sim_stacks_put(struct sim_page *page, const struct sim_actor_table *actor_table);
