/*
 * replay.h -- what the files of `rewake replay` share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/subject/subject.h"

/* ---- replay_result.c: how a replay compares with the run that it repeats. -------------------- */

enum sim_replay_result {
    SIM_REPLAY_SAME,
    SIM_REPLAY_NO_LONGER_FAILS,
    SIM_REPLAY_SAME_FAILURE, /* By other events. */
    SIM_REPLAY_DIFFERS,
    SIM_REPLAY_UNSTABLE, /* Two replays differ from each other. */
    SIM_REPLAY_RESULTS
};

/* By one replay, so never UNSTABLE; of a `lenient` one only the end is compared. */
enum sim_replay_result sim_replay_compare(
        const struct sim_subject *subject, const struct sim_outcome *outcome, bool lenient);

/*
 * Compares `alone`, a run of `subject`. A run that differs, unless this build is known to have made
 * it, is made once more. 0, or the exit status after a line.
 */
int sim_replay_find(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_single *alone, enum sim_replay_result *ret_result);

/* The exit status that it means. */
int sim_replay_status(enum sim_replay_result result, const struct sim_outcome *outcome);

/* In words, for people; static. */
const char *sim_replay_sentence(enum sim_replay_result result, const struct sim_subject *subject,
        const struct sim_outcome *outcome);

/* As one line for programs; `token` is that of the run. */
void sim_replay_print_json(const struct sim_subject *subject, const struct sim_single *alone,
        enum sim_replay_result result, const char *token);

/* ---- replay_each.c: --each. ------------------------------------------------------------------ */

/* Replays all that the arguments name; the exit status. */
int sim_replay_each(struct sim_cli *cli);

/* ---- replay_step.c: --step, --until, --gdb, --here. ------------------------------------------ */

/* Whether the flags go together. 0, or the exit status after a line. */
int sim_replay_check_flags(const struct sim_cli *cli);

/* Whether the flags ask for one step, or the run up to one; prints that, and returns the exit
 * status. */
bool sim_replay_has_step(const struct sim_cli *cli);
int sim_replay_step(struct sim_cli *cli, const struct sim_subject *subject);

/* After a crash that left a core: prints where, and how to open it. */
void sim_replay_print_core(const struct sim_single *alone);

/* ---- replay_export.c: --export FILE. --------------------------------------------------------- */

/* Whether there is a format for FILE, and no such file yet. 0, also without --export, or the exit
 * status after a line. */
int sim_replay_export_check(const struct sim_cli *cli);

/* Writes the run. 0, or the exit status after a line; no file is left then. */
int sim_replay_export(
        struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone);
