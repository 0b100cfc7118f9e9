/*
 * confirm.h -- is a failure of a sweep a failure of the run alone?
 *
 * A failure that a worker saw is run again in a new process. When verdict, oracle,
 * site and digest are the same it is confirmed, and this second run is the one that is
 * stored and reported. Otherwise the run depends on something that is not in its token;
 * that is itself the finding, verdict `diverged`, with the runs before it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_ENGINE_SWEEP_CONFIRM_H
#define SIM_ENGINE_SWEEP_CONFIRM_H

#include "sim/engine/worker/single.h"

/*
 * Runs `what` alone and compares it with `seen`. *ret_outcome: what came out, or `diverged`.
 * `first` is the first seed of the sweep. False: the system refused, see
 * alone->worker.error. sim_single_fini must follow in any case.
 */
bool sim_confirm(struct sim_single *alone, const struct sim_run_spec *what,
        const struct sim_outcome *seen, uint64_t first, struct sim_outcome *ret_outcome,
        bool *ret_same);

#endif
