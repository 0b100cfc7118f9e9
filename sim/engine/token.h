/*
 * token.h -- a run as one word that can be pasted.
 *
 *      rw1:<scenario>:<seed>:<payload>
 *
 * Format of the payload, before base32 (lower case a-z2-7, no padding, unused bits 0):
 *   varint  decision version (SIM_DECISION_VERSION)
 *   4 bytes hash of the declared options and parameters (sim_options_hash)
 *   4 bytes low half of the run's digest; 0 when it has none (a hang)
 *   byte    flags: 1 the run is given by its tape, else it is plain `random`;
 *           2 it is of a program, 4 which has peers
 *   varint  verdict, varint oracle, 4 bytes site: how it ended, so that a replay
 *           knows without a database whether it fails in the same way
 *   varint  options that differ from their defaults, then for each: varint
 *           distance from the index before (SIM_OPTIONS and up are the scenario's
 *           parameters), varint value (of a parameter: zigzag)
 *   varint  arguments of the program (sim/program), then for each: varint length, bytes;
 *           then 4 bytes hash of its environment; only with flag 2
 *   varint  peers (at least one), then for each: varint length, bytes; only with flag 4
 *   tape    sim_tape_encode, to the end; only with flag 1
 *   4 bytes XXH32 of the whole text up to the last colon and of all bytes before
 * Numbers of 4 bytes are little-endian. A varint has one spelling, and so has a
 * seed: there are no two tokens for one run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/decide/options.h"
#include "sim/core/decide/tape.h"

/* Raised whenever the same seed would mean another run. */
#define SIM_DECISION_VERSION 1u

#define SIM_SEED_MAX ((uint64_t)INT64_MAX)
#define SIM_NAME_MAX 96u /* Of a scenario, with the final 0. */
#define SIM_TOKEN_OPTIONS_MAX ((uint32_t)SIM_OPTIONS + SIM_PARAMS_MAX)
#define SIM_TOKEN_ERROR_MAX 256u
#define SIM_TOKEN_ARGUMENTS_MAX 4096u
#define SIM_TOKEN_PEERS_MAX 64u
#define SIM_TOKEN_TAPE_MAX (1u << 20) /* Deviations in a tape that is read. */

struct sim_token_option {
    uint32_t index; /* enum sim_option_index, or SIM_OPTIONS plus that of a parameter. */
    uint64_t value;
};

struct sim_token {
    char scenario[SIM_NAME_MAX];
    uint64_t seed;
    uint32_t options_hash;
    uint32_t digest;
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
    bool taped;
    uint32_t option_count;
    struct sim_token_option options[SIM_TOKEN_OPTIONS_MAX];
    /* Of a program; after sim_token_parse owned, as the tape is. */
    bool program;
    uint32_t argument_count;
    char **arguments;
    uint32_t environment; /* Its hash. */
    uint32_t peer_count;
    char **peers;         /* As they were given. */
    struct sim_tape tape; /* After sim_token_parse: owned, see sim_token_done. */
};

enum sim_token_error {
    SIM_TOKEN_OK,
    SIM_TOKEN_MALFORMED,     /* Cut, mistyped, or no token at all. */
    SIM_TOKEN_OTHER_VERSION, /* Of a rewake whose decisions mean something else. */
    SIM_TOKEN_OTHER_OPTIONS  /* Made under other declarations of options or parameters. */
};

/*
 * Reads untrusted `text`. On an error nothing is owned and `error` is one line: what is wrong and
 * what to do; on success sim_token_done must follow.
 */
enum sim_token_error sim_token_parse(
        const char *text, struct sim_token *ret_token, char error[SIM_TOKEN_ERROR_MAX]);

/* Gives tape, arguments and peers back. Zeroed tokens are fine. */
void sim_token_done(struct sim_token *token);

struct sim_scenario;

/* Notes which of `options` differ from the defaults of `scenario`, and the hash. */
void sim_token_set_options(struct sim_token *token, const struct sim_scenario *scenario,
        const struct sim_options *options);

/* The options of the run: the defaults of `scenario`, and what the token says. */
enum sim_token_error sim_token_options(const struct sim_token *token,
        const struct sim_scenario *scenario, struct sim_options *ret_options,
        char error[SIM_TOKEN_ERROR_MAX]);

/* The token as text, from malloc. Tape, arguments and peers are borrowed. */
char *sim_token_text(const struct sim_token *token);

/* A seed: decimal, or 0x and hexadecimal; false when it is none or above SIM_SEED_MAX. */
bool sim_seed_parse(const char *text, uint64_t *ret_seed);
