/*
 * shrunk.h -- how far a run was minimized: what `run`, `shrink` and `promote` print of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/json.h"
#include "sim/engine/shrink/shrink.h"
#include "sim/store/store.h"

/* "Minimized: 2 scheduling choices differ from the default schedule (was 31; 412 replays)."; from
 * malloc. */
char *sim_shrunk_sentence(const struct sim_shrunk *shrunk);

/* One line for each part of the key: from, to. */
void sim_shrunk_print(const struct sim_shrunk *shrunk);

/* How it ended, and the key from and to, as fields of an object. */
void sim_shrunk_json(struct sim_json *json, const struct sim_shrunk *shrunk);

/* How it ended, for programs: "minimal", "replays", "time" … */
const char *sim_shrunk_word(enum sim_shrink_end end);

/* The token of the smallest run, from malloc; only where sim_shrunk_holds. */
char *sim_shrunk_token(const struct sim_scenario *scenario, const struct sim_shrunk *shrunk);

/* Stores the smaller run of `run`, with its token. */
RT_MUST_CHECK enum sim_store_err sim_shrunk_store(struct sim_store *store, int64_t run,
        const struct sim_scenario *scenario, const struct sim_shrunk *shrunk, const char *token);
