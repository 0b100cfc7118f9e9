/*
 * coverage.h -- what a sweep has covered, in the database: coverage.sql.
 *
 * Part of the interface in store.h: the same errors, the same batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_COVERAGE_H
#define SIM_STORE_COVERAGE_H

#include "sim/search/cover/element.h"
#include "sim/search/cover/species.h"
#include "sim/store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_covered {
    struct sim_element element;
    uint64_t first_run; /* Its number in the sweep. */
    uint64_t runs;      /* In so many it was seen. */
};

/* Writes `count` coverage points of `sweep`; replaces earlier rows. */
RT_MUST_CHECK enum sim_store_err sim_store_covered(
        struct sim_store *store, int64_t sweep, const struct sim_covered *covered, uint32_t count);

/* Runs that one strategy made; replaced as well. */
struct sim_drawn {
    const char *strategy;
    uint64_t runs;
    uint64_t failures;
};
RT_MUST_CHECK enum sim_store_err sim_store_drawn(
        struct sim_store *store, int64_t sweep, const struct sim_drawn *drawn, uint32_t count);

/* How many different runs `strategy` made; replaced as well. */
RT_MUST_CHECK enum sim_store_err sim_store_species(struct sim_store *store, int64_t sweep,
        const char *strategy, const struct sim_census *census);

/* A goal of the sweep's scenario, reached or not. */
struct sim_goal {
    uint32_t site;
    const char *what; /* "sometimes", "reachable", "always" */
    const char *text;
};
RT_MUST_CHECK enum sim_store_err sim_store_goals(
        struct sim_store *store, int64_t sweep, const struct sim_goal *goals, uint32_t count);

/* ---- Read again. ----------------------------------------------------------------------------- */

#define SIM_ALL_SWEEPS (-1)

/* What is asked, and the columns of a row: text, or NULL. Numbers are decimal. */
#define SIM_ASKED_LIST(X) \
    X(SWEEPS, \
            "the sweep named; 0: of each scenario the newest; SIM_ALL_SWEEPS: all, of a scenario " \
            "the newest last; of those that have covered something: sweep, scenario, library, " \
            "strategy, runs, failures, points, the last run that covered something new") \
    X(ELEMENTS, "kind, meaning, place, other place, runs, first run; by kind, the seldom last") \
    X(GROWTH, "runs so far, covered; for each run that was the first to cover something") \
    X(DRAWN, "strategy, runs, failures, 3/n in parts of a billion") \
    X(SPECIES, "strategy, runs, seen, once, twice, level") \
    X(GOALS, "what, text, place, runs; the seldom first") \
    X(NEWS, "run; those that were the first to cover something, in order") \
    X(CODE, "edge, file, its number in its function; all there are, in their order") \
    X(CODE_REACHED, "edge, runs that reached it without a fault or before it")

enum sim_asked {
#define SIM_ASKED_ENUM(name, columns) SIM_ASKED_##name,
    SIM_ASKED_LIST(SIM_ASKED_ENUM)
#undef SIM_ASKED_ENUM
};

/* Calls `row` for each row about `sweep` until it returns false, with columns that last until then;
 * it must not call the store. */
RT_MUST_CHECK enum sim_store_err sim_store_ask(struct sim_store *store, enum sim_asked asked,
        int64_t sweep, bool (*row)(const char *const *columns, void *argument), void *argument);

#ifdef __cplusplus
}
#endif
#endif
