/*
 * replay_finding.c -- compares a replay: verdict, oracle, site and digest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/replay_finding.h"

#include <stdio.h>

#include "sim/base/json.h"

/* By what is known of the build. */
static enum sim_finding
compare(const struct sim_subject *subject, const struct sim_outcome *outcome, bool lenient)
{
    if (sim_subject_same_run(subject, outcome)) {
        return SIM_FINDING_SAME;
    }
    /* Of a lenient replay only the end is compared. */
    if (subject->own_build && !lenient) {
        return SIM_FINDING_DIFFERS;
    }
    if (outcome->verdict == SIM_VERDICT_PASS) {
        return SIM_FINDING_NO_LONGER_FAILS;
    }
    return sim_subject_same_failure(subject, outcome) ? SIM_FINDING_SAME_FAILURE
                                                      : SIM_FINDING_DIFFERS;
}

/* Whether a run that differs is the same twice. */
static int
check_stability(struct sim_cli *cli, const struct sim_subject *subject, bool lenient,
        const struct sim_outcome *outcome, bool *ret_stable)
{
    struct sim_single again;
    int status = sim_subject_run(cli, subject, lenient, false, &again);
    if (status == 0) {
        *ret_stable = sim_same_end(outcome, sim_single_outcome(&again));
    }
    sim_single_fini(&again);
    return status;
}

int
sim_replay_find(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, enum sim_finding *ret_finding)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    bool lenient = sim_given(&cli->settings, SIM_CLI_OPTION_LENIENT);
    enum sim_finding finding = compare(subject, outcome, lenient);
    bool stable = true;
    if (finding != SIM_FINDING_SAME && !subject->own_build) {
        int status = check_stability(cli, subject, lenient, outcome, &stable);
        if (status != 0) {
            return status;
        }
    }
    *ret_finding = stable ? finding : SIM_FINDING_UNSTABLE;
    return 0;
}

int
sim_replay_status(enum sim_finding finding, const struct sim_outcome *outcome)
{
    switch (finding) {
    case SIM_FINDING_SAME:
        return outcome->verdict == SIM_VERDICT_PASS ? SIM_EXIT_HELD : SIM_EXIT_BUG;
    case SIM_FINDING_SAME_FAILURE:
        return SIM_EXIT_BUG;
    case SIM_FINDING_NO_LONGER_FAILS:
        return SIM_EXIT_HELD;
    case SIM_FINDING_DIFFERS:
    case SIM_FINDING_UNSTABLE:
    case SIM_FINDINGS:
        break;
    }
    return SIM_EXIT_DIFFERS;
}

const char *
sim_replay_sentence(enum sim_finding finding, const struct sim_subject *subject,
        const struct sim_outcome *outcome)
{
    switch (finding) {
    case SIM_FINDING_SAME:
        if (subject->from_file) {
            return outcome->verdict == SIM_VERDICT_PASS ? "it passes" : "it fails";
        }
        return outcome->verdict == SIM_VERDICT_PASS ? "same run: it passes" : "same failure";
    case SIM_FINDING_SAME_FAILURE:
        return "same failure, by other events: the code has changed";
    case SIM_FINDING_NO_LONGER_FAILS:
        return subject->expected.verdict == SIM_VERDICT_PASS
                       ? "it passes, by other events: the code has changed"
                       : "it no longer fails";
    case SIM_FINDING_DIFFERS:
        return subject->own_build
                       ? "it differs, although this same build made it: the run depends on "
                         "something that is not in its seed"
                       : "another failure than the token's";
    case SIM_FINDING_UNSTABLE:
    case SIM_FINDINGS:
        break;
    }
    return "two replays differ from each other: the run depends on something that is not in its "
           "seed";
}

void
sim_replay_print_json(const struct sim_subject *subject, const struct sim_single *alone,
        enum sim_finding finding, const char *token)
{
    static const char *const words[] = {
            "same", "no-longer-fails", "same-failure", "differs", "nondeterministic"};
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    struct sim_json json;
    char digest[24];
    sim_json_begin(&json, stdout, "replay");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", subject->entry->scenario->name),
            SIM_LONG("seed", subject->seed), SIM_TEXT("result", words[finding]),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_TEXT("message", outcome->message),
            SIM_TEXT("expected_verdict", sim_verdict_name(subject->expected.verdict)));
    (void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)outcome->digest);
    sim_json_text(&json, "digest", digest);
    (void)snprintf(digest, sizeof(digest), "%0*llx", subject->half_digest ? 8 : 16,
            (unsigned long long)subject->expected.digest);
    SIM_JSON_PUT(&json, SIM_TEXT("expected_digest", digest), SIM_TEXT("token", token),
            SIM_NUMBER("steps", outcome->steps), SIM_NUMBER("sim_ns", outcome->sim_ns),
            SIM_NUMBER("deviations", outcome->deviations),
            SIM_NUMBER("missing_wake_step", outcome->missing_wake_step),
            SIM_NUMBER("exit", (uint64_t)sim_replay_status(finding, outcome)));
    sim_json_end(&json);
}
