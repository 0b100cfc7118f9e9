/*
 * replay_result.c -- compares a replay: verdict, oracle, site and digest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "sim/base/json.h"
#include "sim/cli/replay.h"

enum sim_replay_result
sim_replay_compare(
        const struct sim_subject *subject, const struct sim_outcome *outcome, bool lenient)
{
    if (sim_subject_same_run(subject, outcome)) {
        return SIM_REPLAY_SAME;
    }
    if (subject->own_build && !lenient) {
        return SIM_REPLAY_DIFFERS;
    }
    if (outcome->verdict == SIM_VERDICT_PASS) {
        return SIM_REPLAY_NO_LONGER_FAILS;
    }
    return sim_subject_same_failure(subject, outcome) ? SIM_REPLAY_SAME_FAILURE
                                                      : SIM_REPLAY_DIFFERS;
}

int
sim_replay_find(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, enum sim_replay_result *ret_result)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    bool lenient = sim_given(&cli->settings, SIM_CLI_OPTION_LENIENT);
    enum sim_replay_result result = sim_replay_compare(subject, outcome, lenient);
    struct sim_single again = {.runs = 0};
    int status = 0;
    if (result != SIM_REPLAY_SAME && !subject->own_build) {
        const struct sim_run_spec spec = sim_subject_spec(cli, subject);
        status = sim_subject_run(&spec, &again);
        if (status == 0 && !sim_same_end(outcome, sim_single_outcome(&again))) {
            result = SIM_REPLAY_UNSTABLE;
        }
    }
    sim_single_fini(&again);
    *ret_result = result;
    return status;
}

int
sim_replay_status(enum sim_replay_result result, const struct sim_outcome *outcome)
{
    switch (result) {
    case SIM_REPLAY_SAME:
        return outcome->verdict == SIM_VERDICT_PASS ? SIM_EXIT_HELD : SIM_EXIT_BUG;
    case SIM_REPLAY_SAME_FAILURE:
        return SIM_EXIT_BUG;
    case SIM_REPLAY_NO_LONGER_FAILS:
        return SIM_EXIT_HELD;
    case SIM_REPLAY_DIFFERS:
    case SIM_REPLAY_UNSTABLE:
    case SIM_REPLAY_RESULTS:
        break;
    }
    return SIM_EXIT_DIFFERS;
}

const char *
sim_replay_sentence(enum sim_replay_result result, const struct sim_subject *subject,
        const struct sim_outcome *outcome)
{
    switch (result) {
    case SIM_REPLAY_SAME:
        if (subject->from_file) {
            return outcome->verdict == SIM_VERDICT_PASS ? "it passes" : "it fails";
        }
        return outcome->verdict == SIM_VERDICT_PASS ? "same run: it passes" : "same failure";
    case SIM_REPLAY_SAME_FAILURE:
        return "same failure, by other events: the code has changed";
    case SIM_REPLAY_NO_LONGER_FAILS:
        return subject->expected.verdict == SIM_VERDICT_PASS
                       ? "it passes, by other events: the code has changed"
                       : "it no longer fails";
    case SIM_REPLAY_DIFFERS:
        return subject->own_build
                       ? "it differs, although this same build made it: the run depends on "
                         "something that is not in its seed"
                       : "another failure than the token's";
    case SIM_REPLAY_UNSTABLE:
    case SIM_REPLAY_RESULTS:
        break;
    }
    return "two replays differ from each other: the run depends on something that is not in its "
           "seed";
}

void
sim_replay_print_json(const struct sim_subject *subject, const struct sim_single *alone,
        enum sim_replay_result result, const char *token)
{
    static const char *const words[] = {
            "same", "no-longer-fails", "same-failure", "differs", "nondeterministic"};
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    char expected[24];
    (void)snprintf(expected, sizeof(expected), "%0*llx", subject->half_digest ? 8 : 16,
            (unsigned long long)subject->expected.digest);
    SIM_JSON_LINE("replay", SIM_TEXT("scenario", subject->entry->scenario->name),
            SIM_LONG("seed", subject->seed), SIM_TEXT("result", words[result]),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_TEXT("message", outcome->message),
            SIM_TEXT("expected_verdict", sim_verdict_name(subject->expected.verdict)),
            SIM_HEX("digest", outcome->digest), SIM_TEXT("expected_digest", expected),
            SIM_TEXT("token", token), SIM_NUMBER("steps", outcome->steps),
            SIM_NUMBER("sim_ns", outcome->sim_ns), SIM_NUMBER("deviations", outcome->deviations),
            SIM_NUMBER("missing_wake_step", outcome->missing_wake_step),
            SIM_NUMBER("exit", (uint64_t)sim_replay_status(result, outcome)));
}
