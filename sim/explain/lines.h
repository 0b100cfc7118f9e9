/*
 * lines.h -- from which line of the reader's each event came.
 *
 * A probe names its own line, in the runtime or in a library, and the simulated system has none.
 * What the reader's code executes (look/executed.h) says which call of it was in progress when an
 * event was recorded. That line is written into the event, as the macros of the runtime do for what
 * is awaited, so that all that is said of an event names it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/executed.h"
#include "sim/explain/view/actor_table.h"

/* Adds them to the events in `recorder`, which `actor_table` has read, of the run that `executed`
 * is; those that name a line of the reader's keep it. */
void sim_lines_add(struct sim_recorder *recorder, const struct sim_actor_table *actor_table,
        const struct sim_executed *executed, struct sim_places *places);
