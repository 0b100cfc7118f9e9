/*
 * cli.h -- commands, exit statuses, refusals and warnings.
 *
 * A command registers itself (SIM_COMMAND), as a scenario does: main() knows none of them by name,
 * and a folder above sim/ can add its own.
 *
 * stdout carries the result, stderr everything else. A refusal is one line on stderr: what
 * happened, where, and what to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/cli/options.h"
#include "sim/engine/registry.h"
#include "sim/program/program.h"

enum sim_exit {
    SIM_EXIT_HELD = 0,    /* All passed; of `replay`: it no longer fails. */
    SIM_EXIT_BUG = 1,     /* A bug was found. */
    SIM_EXIT_USAGE = 2,   /* Usage, a malformed token, a library that does not load. */
    SIM_EXIT_DIFFERS = 3, /* A replay differs, or nondeterminism. */
    SIM_EXIT_NOTHING = 4, /* No scenario matched, nothing ran. */
    SIM_EXIT_SHORT = 5,   /* Interrupted, or fewer runs than asked for. */
    SIM_EXIT_SYSTEM = 70, /* rewake or its database failed. */
    /* This build lacks the token's scenario or options; or runs of a program were refused. */
    SIM_EXIT_CAN_NOT_JUDGE = 125,
    SIM_EXIT_UNREAD = 141 /* The reader of stdout closed it: as a shell reports SIGPIPE. */
};

struct sim_cli {
    const struct sim_command *command;
    struct sim_settings settings;
    struct sim_registry peers; /* Of libraries that --peer names. */
    struct sim_registry registry;
    const char *library; /* The first argument, where that is a library; else NULL. */
    char **arguments;    /* The others. */
    uint32_t count;
    char **rest; /* Those after `--`. */
    uint32_t rest_count;
};

/* What the arguments of a command may be: for the parser (LIBRARY), and for completion. */
#define SIM_TAKES_LIBRARY 1u /* First of all: its scenarios are loaded. */
#define SIM_TAKES_NAMES 2u   /* Of scenarios. */
#define SIM_TAKES_RUNS 4u
#define SIM_TAKES_FILES 8u
#define SIM_TAKES_COMMAND \
    16u /* Another program's arguments: none is an option of rewake, but a
                               * --help that is alone. */

/* What a command is for: the groups of `rewake help`, in their order. */
enum sim_purpose {
    SIM_PURPOSE_FIND,
    SIM_PURPOSE_UNDERSTAND,
    SIM_PURPOSE_KEEP,
    SIM_PURPOSE_SHARE,
    SIM_PURPOSE_DATA,
    SIM_PURPOSES
};

struct sim_command {
    const char *name;
    enum sim_purpose purpose;
    const char *usage;   /* Arguments, as in the first line of help; a line for each form. */
    const char *about;   /* One line. */
    const char *help;    /* Paragraphs, a line each; one that begins with a blank is not folded. */
    const char *missing; /* The refusal where arguments are missing: what to give, an example. */
    uint64_t options;    /* Mask of SIM_OPT. */
    uint32_t takes;      /* Mask of SIM_TAKES_…. */
    uint32_t arguments_min;
    uint32_t arguments_max;
    int (*run)(struct sim_cli *cli); /* Returns enum sim_exit. */
    /* The words that the first argument may be, for completion: the first that comes after `word`
     * ("" to begin with), of letters, digits and dashes; NULL: there is none. NULL: any. */
    const char *(*word)(const char *word);
};

#define SIM_COMMAND(identifier, ...) \
    static const struct sim_command identifier = {__VA_ARGS__}; \
    static const struct sim_command *const identifier##__registered \
            __attribute__((section("rewake_commands"), used)) = &identifier

/* For the help of commands that take a run. */
#define SIM_SUBJECT_HELP \
    "A token that is too long for a command line may be in a file, as @FILE, or on stdin, as -.\n"
#define SIM_SUBJECT_MISSING(command) \
    "which run? Give run:ID or a token. Example: rewake " command \
    " run:2 (rewake query failures lists runs; --help has all options)"

/* Prints "rewake COMMAND: …" on stderr as one line, and returns `status`. */
__attribute__((format(printf, 2, 3))) int sim_cli_fail(int status, const char *format, ...);

/* Prints "rewake COMMAND: warning: …" likewise. */
__attribute__((format(printf, 1, 2))) void sim_cli_warn(const char *format, ...);

/* Creates the file at `path`, for a command that overwrites none. NULL after a line, with the exit
 * status in *ret_status: where it exists, that ends with `advice`. */
FILE *sim_cli_create(const char *path, const char *advice, int *ret_status);

/* Closes it. 0, or the exit status after a line: `written` is false, or the system fails now. */
int sim_cli_close(FILE *file, const char *path, bool written);

/* Whether this path is an executable file: a program, or a script. */
bool sim_cli_can_execute(const char *path);

/* Whether an argument names a library or a program: "mine.so", "./mine.so", "libmine.so.2", and a
 * file that can be executed, "./prog". */
bool sim_cli_is_library(const char *argument);

/* Gives the program that was loaded `input`, with the libraries of its peers, and the environment
 * of the command line. 0, or the exit status after one line. */
int sim_cli_set_program(struct sim_cli *cli, struct sim_program_input input);

/* The command called `name`; NULL after a line on stderr. */
const struct sim_command *sim_cli_find_command(const char *name);

/* The first command whose name comes after `name` ("" to begin with); NULL: none. */
const struct sim_command *sim_cli_next_command(const char *name);

/* Calls `put` with each command, in the order of their names. */
void sim_cli_each_command(void (*put)(const struct sim_command *command));

/* The program: main() calls it with its arguments, and ends with the status that it returns. */
int sim_cli_main(int count, char **arguments);
