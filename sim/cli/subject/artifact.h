/*
 * artifact.h -- a fuzzer's input as a file: which scenario, then its decisions.
 *
 *      zoo/tokio-4497/broken -D tasks=3 -O step_ns=50        one line of text
 *      bytes to the end                               sim/core/decide/answers.h
 *
 * Any bytes are a run of that scenario; no bytes are its baseline run. The line is that of `rewake
 * run`: the scenario's name, then what differs from the defaults, one blank between two words. So a
 * file that stopped a fuzzer needs nothing else to be replayed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/cli.h"

/* Bytes of the first line, with its end; of a whole file. */
#define SIM_ARTIFACT_LINE_MAX 1024u
#define SIM_ARTIFACT_SIZE_MAX (1u << 20)
#define SIM_ARTIFACT_ERROR_MAX 256u

struct sim_artifact {
    const struct sim_entry *entry;
    struct sim_options options;
    const uint8_t *bytes; /* After the line; borrowed. */
    size_t size;
};

/*
 * Reads untrusted bytes. 0, or the exit status (SIM_EXIT_USAGE: not an artifact;
 * SIM_EXIT_CAN_NOT_JUDGE: of a scenario or options that `registry` does not have) with a clause in
 * `error` to print after the file's name: "is not an artifact ...".
 */
int sim_artifact_read(const struct sim_registry *registry, const uint8_t *bytes, size_t size,
        struct sim_artifact *ret, char error[SIM_ARTIFACT_ERROR_MAX]);

/* The first line, with its end, of a run of `scenario` with `options`; from malloc. */
char *sim_artifact_line(const struct sim_scenario *scenario, const struct sim_options *options);
