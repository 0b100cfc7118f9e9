/*
 * shrink_priv.h -- what the passes share: the best run so far, and trying another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/shrink/shrink.h"
#include "sim/engine/worker/single.h"

/* Replays in a row without success after which it is over, and steps that they took: of short runs
 * more are made. */
#define SIM__SHRINK_STALL 200u
#define SIM__SHRINK_STALL_STEPS UINT64_C(40000)
/* Candidates, of which many are made twice: a power of two well above the replays there may be. */
#define SIM__SHRINK_TRIED 8192u

struct sim__shrinker {
    const struct sim_shrink_plan *plan;
    struct sim_single single;
    struct sim_draws *draws; /* Of the last run. */

    /* The best run: as it was done. */
    struct sim_options options;
    struct sim_tape best;
    struct sim_shrink_key key;
    uint64_t digest;
    struct sim_number drawn[SIM_DRAWS_MAX]; /* The numbers that it drew. */
    uint32_t drawn_count;

    /* What is to be tried next; passes write here. Has space for as many entries as `best` has. */
    struct sim_options candidate_options;
    struct sim_tape candidate;

    uint32_t replays;
    uint64_t steps;
    uint32_t hangs;
    uint32_t crashes;
    uint32_t stall;
    uint64_t stall_steps;
    bool over;
    enum sim_shrink_end end; /* Once over. */
    uint64_t tried[SIM__SHRINK_TRIED];
};

/* ---- try.c ----------------------------------------------------------------------------------- */

/* The candidate is the best run. */
void sim__shrink_reset(struct sim__shrinker *shrinker);

/* The candidate is the best run without its deviations [from, to). */
void sim__shrink_cut(struct sim__shrinker *shrinker, uint32_t from, uint32_t to);

/*
 * Runs the candidate. True: it fails in the same way, and what it did is smaller than the best; it
 * is the best now. The candidate is then of no meaning, and so are places in the best tape from the
 * first that was changed on (those before it are the same: the run was).
 */
bool sim__shrink_try(struct sim__shrinker *shrinker);

/* As sim__shrink_try, with a candidate whose steps are in an order (sim/core/decide/ordered.h). */
bool sim__shrink_try_ordered(struct sim__shrinker *shrinker);

/* Makes space for `count` entries in the candidate. */
void sim__shrink_room(struct sim__shrinker *shrinker, uint32_t count);

/* Runs the best once more: its events are the single-run worker's then. It counts as a replay.
 * False: no replay is left, or it is another run now. */
bool sim__shrink_run_best(struct sim__shrinker *shrinker);

/* The first best run: the failing run by its tape. False: it did not fail again. */
bool sim__shrink_begin(struct sim__shrinker *shrinker);

/* ---- key.c ----------------------------------------------------------------------------------- */

void sim__shrink_measure(const struct sim_scenario *scenario, const struct sim_options *options,
        const struct sim_tape *tape, const struct sim_outcome *outcome,
        const struct sim_recorder *recorder, struct sim_shrink_key *ret_key);

/* Whether `a` is smaller than `b`, of which everything before is the same. */
bool sim__shrink_tape_less(const struct sim_tape *a, const struct sim_tape *b);

/* ---- number.c -------------------------------------------------------------------------------- */

/* A number of the best run is to have another value. */
struct sim__change {
    struct sim_number number;
    uint64_t value;
};

/* In the candidate it has: what was drawn after it moves along. False: it cannot have it. Of two
 * in one stream the later is to come first. There must be space for SIM_DRAW_CHOICES_MAX more. */
bool sim__shrink_put_value(struct sim__shrinker *shrinker, const struct sim__change *change);

/* Deviations that the number costs now. */
uint32_t sim__shrink_cost_of(const struct sim__shrinker *shrinker, const struct sim_number *number);

/* Whether the entry is one of the choices of `number`. */
bool sim__shrink_is_of(const struct sim_number *number, const struct sim_deviation *entry);

/* ---- Passes: each makes the best run smaller where it can. ----------------------------------- */

void sim__shrink_options(struct sim__shrinker *shrinker); /* key.c */
void sim__shrink_prefix(struct sim__shrinker *shrinker);  /* drop.c */
void sim__shrink_spans(struct sim__shrinker *shrinker);   /* span.c */
void sim__shrink_sort(struct sim__shrinker *shrinker);    /* order.c */
void sim__shrink_drop(struct sim__shrinker *shrinker);    /* drop.c */
void sim__shrink_shift(struct sim__shrinker *shrinker);   /* lower.c */
void sim__shrink_numbers(struct sim__shrinker *shrinker); /* number.c */
void sim__shrink_pairs(struct sim__shrinker *shrinker);   /* drop.c */
void sim__shrink_lower(struct sim__shrinker *shrinker);   /* lower.c */
void sim__shrink_earlier(struct sim__shrinker *shrinker); /* lower.c */
void sim__shrink_trade(struct sim__shrinker *shrinker);   /* trade.c */
void sim__shrink_merge(struct sim__shrinker *shrinker);   /* order.c */
