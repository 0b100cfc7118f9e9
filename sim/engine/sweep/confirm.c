/*
 * confirm.c -- comparing a run of a sweep with the same run alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/sweep/confirm.h"

#include <stdio.h>

#include "runtime/base/assert.h"
/* One sentence: what each of the two was, and after what. */
static void
describe_divergence(const struct sim_outcome *seen, const struct sim_outcome *alone, uint64_t first,
        char *ret_text, size_t size)
{
    rt_assert(seen->seed >= first);
    rt_assert(size > 0);
    const char *was = sim_verdict_name(seen->verdict);
    const char *is = sim_verdict_name(alone->verdict);
    if (seen->reason == SIM_REASON_KILLED) {
        (void)snprintf(ret_text, size,
                "in the sweep %.160s; alone in a fresh process it ended as %s", seen->message, is);
        return;
    }
    if (seen->seed == first) {
        (void)snprintf(ret_text, size,
                "the first run of the sweep ended as %s; alone in a fresh process it ended as %s%s",
                was, is, sim_outcome_same(seen, alone) ? " by other events" : "");
        return;
    }
    (void)snprintf(ret_text, size,
            "in the sweep, where seeds from %llu to %llu may have run before, it ended as %s; "
            "alone in a fresh process it ended as %s%s",
            (unsigned long long)first, (unsigned long long)(seen->seed - 1), was, is,
            sim_outcome_same(seen, alone) ? " by other events" : "");
}

bool
sim_confirm(struct sim_single *alone, const struct sim_run_spec *what,
        const struct sim_outcome *seen, uint64_t first, struct sim_outcome *ret_outcome,
        bool *ret_same)
{
    rt_assert(seen->verdict != SIM_VERDICT_PASS);
    rt_assert(what->seed == seen->seed);
    if (!sim_single_alone(alone, what)) {
        return false;
    }
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    rt_assert(outcome->seed == seen->seed);
    *ret_outcome = *outcome;
    *ret_same = sim_same_end(seen, outcome);
    if (!*ret_same) {
        ret_outcome->verdict = SIM_VERDICT_DIVERGED;
        ret_outcome->oracle = SIM_ORACLE_REPLICA;
        ret_outcome->site = seen->site;
        if (seen->verdict == SIM_VERDICT_DIVERGED) {
            /* The worker has made it again already, and says so. */
            (void)snprintf(ret_outcome->message, sizeof(ret_outcome->message), "%s", seen->message);
            return true;
        }
        describe_divergence(
                seen, outcome, first, ret_outcome->message, sizeof(ret_outcome->message));
    }
    return true;
}
