/*
 * cli.h -- what a command is, and what it is given.
 *
 * A command registers itself (SIM_COMMAND), as a scenario does: main() knows none of
 * them by name, and a folder above sim/ can bring its own.
 *
 * stdout carries the result, stderr everything else. A refusal is one line on stderr:
 * what is wrong, and what to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cli/options.h"
#include "sim/engine/registry.h"

enum sim_exit {
    SIM_EXIT_HELD = 0, /* All held; of `replay`: it no longer fails. */
    SIM_EXIT_BUG = 1,  /* A bug was found. */
    SIM_EXIT_USAGE =
            2, /* Usage, malformed token, seed out of range, a library that does not load. */
    SIM_EXIT_DIFFERS = 3, /* A replay differs, or nondeterminism. */
    SIM_EXIT_NOTHING = 4, /* No scenario matched, nothing ran. */
    SIM_EXIT_SHORT = 5,   /* Interrupted, or fewer runs than asked for. */
    SIM_EXIT_SYSTEM = 70, /* rewake or its database failed. */
    SIM_EXIT_CAN_NOT_JUDGE =
            125,          /* A token whose scenario, version or options are not this build's. */
    SIM_EXIT_UNREAD = 141 /* Nobody reads stdout: as a shell tells an end by SIGPIPE. */
};

struct sim_cli {
    const struct sim_command *command;
    struct sim_settings settings;
    struct sim_registry registry;
    const char *library; /* The one that was named in front; NULL: none. */
    char **arguments;    /* What is left. */
    uint32_t count;
};

struct sim_command {
    const char *name;
    const char *usage; /* Arguments, as in the first line of help. */
    const char *about; /* One line. */
    const char *help;  /* More lines, or NULL. */
    uint64_t options;  /* Mask of SIM_CLI_OPTION_BIT. */
    uint32_t arguments_min;
    uint32_t arguments_max;
    bool takes_library;
    int (*run)(struct sim_cli *cli); /* Answers enum sim_exit. */
    /* The words that the first argument may be, for completion: the first that comes after `word`
     * ("" to begin with), of letters, digits and dashes; NULL: there is none. NULL: any. */
    const char *(*word)(const char *word);
};

#define SIM_COMMAND(identifier, ...) \
    static const struct sim_command identifier = {__VA_ARGS__}; \
    static const struct sim_command *const identifier##__registered \
            __attribute__((section("rewake_commands"), used)) = &identifier

/* Of commands that are given a run. */
#define SIM_SUBJECT_HELP \
    "A token that is too long for a command line may stand in a file, as @FILE, or on stdin, as " \
    "-.\n"

/* Prints "rewake: …" on stderr as one line, and answers `status`. */
__attribute__((format(printf, 2, 3))) int sim_cli_fail(int status, const char *format, ...);

/* The first command whose name comes after `name` ("" to begin with); NULL: none. */
const struct sim_command *sim_cli_next_command(const char *name);

/* What main() does once the arguments are there. */
int sim_cli_main(int count, char **arguments);

#endif
