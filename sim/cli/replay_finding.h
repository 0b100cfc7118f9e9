/*
 * replay_finding.h -- how a replay compares with the run that it repeats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_REPLAY_FINDING_H
#define SIM_CLI_REPLAY_FINDING_H

#include "sim/cli/subject/subject.h"

enum sim_finding {
    SIM_FINDING_SAME,
    SIM_FINDING_NO_LONGER_FAILS,
    SIM_FINDING_SAME_FAILURE, /* By other events. */
    SIM_FINDING_DIFFERS,
    SIM_FINDING_UNSTABLE, /* Two replays differ from each other. */
    SIM_FINDINGS
};

/*
 * Compares `alone`, a run of `subject`. A run that differs, unless this build is known to have made
 * it, is made once more. 0, or the exit status after a line.
 */
int sim_replay_find(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, enum sim_finding *ret_finding);

/* The exit status that it means. */
int sim_replay_status(enum sim_finding finding, const struct sim_outcome *outcome);

/* In words, for people; static. */
const char *sim_replay_sentence(enum sim_finding finding, const struct sim_subject *subject,
        const struct sim_outcome *outcome);

/* As one line for programs; `token` is that of the run. */
void sim_replay_print_json(const struct sim_subject *subject, const struct sim_single *alone,
        enum sim_finding finding, const char *token);

/* The digests as far as the expected one is known. */
static inline unsigned long long
sim_replay_digest(const struct sim_subject *subject, const struct sim_outcome *outcome)
{
    return (unsigned long long)outcome->digest & (subject->half_digest ? UINT32_MAX : UINT64_MAX);
}

#endif
