/*
 * coverage.h -- what a sweep has covered, in the database: coverage.sql.
 *
 * Part of the interface in store.h: the same errors, the same batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/cover/element.h"
#include "sim/search/cover/species.h"
#include "sim/store/store.h"

struct sim_covered {
    struct sim_element element;
    uint64_t first_run; /* Its number in the sweep. */
    uint64_t runs;      /* In so many it was seen. */
};

/* Writes `count` coverage points of `sweep`; replaces earlier rows. */
enum sim_store_err sim_store_covered(
        struct sim_store *store, int64_t sweep, const struct sim_covered *covered, uint32_t count);

/* What runs did for nothing at one place; replaced as well. */
struct sim_waste_row {
    const char *kind; /* sim_waste_name (waste.h) */
    uint32_t site;
    uint64_t first_run;
    uint64_t runs;
    uint64_t times;
    uint64_t most;
};
enum sim_store_err sim_store_waste(
        struct sim_store *store, int64_t sweep, const struct sim_waste_row *rows, uint32_t count);

/* Runs that one strategy made; replaced as well. */
struct sim_drawn {
    const char *strategy;
    uint64_t runs;
    uint64_t failures;
};
enum sim_store_err sim_store_drawn(
        struct sim_store *store, int64_t sweep, const struct sim_drawn *drawn, uint32_t count);

/* How many different runs `strategy` made; replaced as well. */
enum sim_store_err sim_store_species(struct sim_store *store, int64_t sweep, const char *strategy,
        const struct sim_census *census);

/* A goal of the sweep's scenario, reached or not. */
struct sim_goal {
    uint32_t site;
    const char *what; /* "sometimes", "reachable", "always" */
    const char *text;
};
enum sim_store_err sim_store_goals(
        struct sim_store *store, int64_t sweep, const struct sim_goal *goals, uint32_t count);
