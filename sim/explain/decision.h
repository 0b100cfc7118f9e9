/*
 * decision.h -- the decision that matters.
 *
 * First the failing run is shrunk (sim/engine/shrink). Each deviation that is left is necessary, so
 * a run without one of them is a passing run as near as can be. Of these the one is reported that
 * separates best: with everything up to and including it as in the failing run, and all that comes
 * after drawn at random, the run fails; with this one decision taken the default way, it passes.
 * Both are counted over many seeds, and the counts are reported whatever they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/worker/single.h"

/* A failure that is to be explained; all of it borrowed. */
struct sim_failure {
    const struct sim_scenario *scenario;
    const struct sim_options *options;
    uint64_t seed;
    uint32_t how;                /* enum sim_how */
    const struct sim_tape *tape; /* With a tape. */
    uint32_t hang_ms;
    bool hung;                 /* It is known to hang: a step need not stand still for so long. */
    uint64_t time_ms;          /* What its explanation may take; 0: SIM_EXPLAIN_TIME_MS. */
    uint64_t steps_max;        /* … in replayed steps; 0: as many as that time stands for. */
    struct sim_budget *budget; /* Of the explanation; set by it. */
};

/* Runs that were made of one point, and how many of them failed. */
struct sim_tally {
    uint32_t runs;
    uint32_t failed;
    uint32_t otherwise; /* Of those, with another verdict. */
};

struct sim_decision {
    struct sim_options options; /* Of both runs: the failure's, or the least that it needs. */
    uint64_t seed;
    struct sim_tape failing; /* Owned: what the failing run needs, as a run wrote it. */
    struct sim_tape passing; /* Owned: the nearest run that passes. */
    uint32_t given;          /* Deviations of the failure as it came. */
    uint32_t runs;           /* Made for all this. */
    uint32_t seeds_tried;    /* Random runs, where no flipped decision made it pass. */
    bool found;              /* `passing` is there. */
    uint32_t changed;        /* Decisions in which the two differ. */
    bool added;              /* They are not the failing run's, but the passing one's. */
    struct sim_deviation deciding;
    struct sim_tally below;  /* With the decision as in the failing run. */
    struct sim_tally beside; /* With the decision the default way. */
};

/*
 * Looks for it. `tape` and `outcome` are the failing run's. False: the system refused (`single`'s
 * worker.error). sim_decision_free must follow in any case.
 */
bool sim_decision_find(struct sim_decision *decision, struct sim_single *single,
        const struct sim_failure *failure, const struct sim_tape *tape,
        const struct sim_outcome *outcome);
/* Looks for nothing: `tape` is what the failing run did. */
void sim_decision_none(struct sim_decision *decision, const struct sim_failure *failure,
        const struct sim_tape *tape);
void sim_decision_free(struct sim_decision *decision);
