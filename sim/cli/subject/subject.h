/*
 * subject.h -- the run that a command line names: a token, run:ID of the database, or a file that
 * stopped a fuzzer (artifact.c). A token may be in a file, as `@FILE`, or on stdin, as `-`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/cli/cli.h"
#include "sim/engine/worker/single.h"
#include "sim/store/read.h"

struct sim_subject {
    const struct sim_entry *entry;
    struct sim_options options;
    uint64_t seed;
    uint32_t how;         /* enum sim_how */
    struct sim_tape tape; /* Owned. */
    /* How it ended when it was found: verdict, oracle, site, digest; the rest is zero. */
    struct sim_outcome expected;
    bool half_digest;   /* Only the low 32 bits of the digest are known. */
    bool own_build;     /* By the database, this build made it. */
    bool other_build;   /* Another one did; neither: unknown. */
    bool other_library; /* With another library, or another build of it. */
    int64_t run;        /* In the database; 0: it is not there. */
    bool has_events;    /* The database has its events. */
    bool from_file;     /* An artifact: `expected` is from a run just now. */
    char *text;         /* Owned: the token from stdin or a file; else NULL. */
    char *token;        /* Owned: of run:ID, where the database has it; else NULL. */
    char *smaller;      /* Owned: the token of its minimized run; or NULL. */
};

/*
 * Finds the run called `name`; loads the library from the database where the scenario is missing.
 * 0, or the exit status after one line on stderr. sim_subject_done may follow in any case.
 */
int sim_subject_find(struct sim_cli *cli, const char *name, struct sim_subject *ret_subject);

/* Whether `name` is run:ID. */
bool sim_subject_is_run(const char *name);

/* The token of run:ID, from malloc, of the minimized run where there is one; its scenario may be
 * missing. 0, or the exit status after a line, and *ret_token is untouched or NULL. */
int sim_subject_token_of_run(const struct sim_cli *cli, const char *name, char **ret_token);

/* Its name in a command to paste: its token where that is known, else what was typed. */
const char *sim_subject_name(const struct sim_cli *cli, const struct sim_subject *subject);

/* For a failure that was not reproduced: prints what has changed since it was found, where the
 * database knows that, and what to do. */
void sim_subject_print_changed(const struct sim_cli *cli, const struct sim_subject *subject);

/*
 * Where a smaller run is known that fails in the same way: prints a line for the beginning, or one
 * for the end, with `command` for the smaller run. Else nothing.
 */
void sim_subject_print_found(const struct sim_subject *subject);
void sim_subject_offer_smaller(
        const struct sim_cli *cli, const struct sim_subject *subject, const char *command);

void sim_subject_done(struct sim_subject *subject);

/* How to make the run again: by its tape, with --lenient as far as that fits; its stderr is let
 * through. Borrows the subject. */
struct sim_run_spec sim_subject_spec(const struct sim_cli *cli, const struct sim_subject *subject);

/* Makes it alone. 0, or the exit status after a line. sim_single_fini must follow in any case. */
int sim_subject_run(const struct sim_run_spec *spec, struct sim_single *alone);

/* What a command does with a run: returns the exit status. */
typedef int sim_subject_fn(struct sim_cli *cli, const struct sim_subject *subject,
        struct sim_single *alone, void *argument);

/* The frame of such commands: finds the run called `name`, makes it (with `explain`, also to find
 * the missing wake), and calls `then`, whose status it returns; or its own, after a line. */
int sim_subject_make(
        struct sim_cli *cli, const char *name, bool explain, sim_subject_fn *then, void *argument);

/* The token of the subject as `alone` has made it, from malloc. */
char *sim_subject_token(const struct sim_subject *subject, struct sim_single *alone);

/* Whether it ended as expected (verdict, oracle and site); whether it was the same run. */
bool sim_subject_same_failure(const struct sim_subject *subject, const struct sim_outcome *outcome);
bool sim_subject_same_run(const struct sim_subject *subject, const struct sim_outcome *outcome);

/* 0; or SIM_EXIT_DIFFERS after a warning, where it was another run. */
int sim_subject_check_same(const struct sim_subject *subject, const struct sim_outcome *outcome);

/* ---- file.c ---------------------------------------------------------------------------------- */

/* Whether `name` is a file, and so means the artifact in it. */
bool sim_subject_is_file(const char *name);

/* Reads the artifact at `path`, and runs it. 0, or the exit status after a line. */
int sim_subject_from_file(struct sim_cli *cli, const char *path, struct sim_subject *subject);

/* Writes the run as an artifact into a new file. 0, or the exit status after a line. An existing
 * file is not changed. */
int sim_subject_write(struct sim_cli *cli, const struct sim_subject *subject, const char *path);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* Whether `name` is `-` or `@FILE`. */
bool sim_subject_is_text(const char *name);

/* Reads the token; *ret_text is from malloc, or NULL. 0, or the exit status after a line. */
int sim_subject_read_text(const char *name, char **ret_text);

/* Reads any number of tokens, between blanks; a line that begins with # is a comment. Each ends
 * with a '\0', and an empty one follows the last. */
int sim_subject_read_list(const char *name, char **ret_list);

/* ---- assign.c ------------------------------------------------------------------------------- */

/* The options and parameters of a run as text: NAME=N, and JSON. */

/* Options and parameters that differ from the defaults, as a JSON object;
 * from malloc. */
char *sim_options_json(const struct sim_scenario *scenario, const struct sim_options *options);

/* Reads them; false where `scenario` does not have one of the names. */
bool sim_options_from_json(
        const struct sim_scenario *scenario, const char *json, struct sim_options *ret_options);

/* The index of the option that is assigned, by its name; SIM_OPTIONS: there is none. */
uint32_t sim_options_find(const struct sim_assignment *assignment);

/* Takes one number by name, as -O (`param` false) or -D do. False: there is no such name.
 * *ret_wrong: NULL, or what is wrong with the value. */
bool sim_options_assign(const struct sim_scenario *scenario, struct sim_options *options,
        bool param, const struct sim_assignment *assignment, const char **ret_wrong);

/* ---- artifact.c ----------------------------------------------------------------------------- */

/*
 * A fuzzer's input as a file: which scenario, then its decisions.
 *
 *      zoo/tokio-4497/broken -D tasks=3 -O step_ns=50        one line of text
 *      bytes to the end                               sim/core/decide/answers.h
 *
 * Any bytes are a run of that scenario; no bytes are its baseline run. The line is that of `rewake
 * run`: the scenario's name, then what differs from the defaults, one blank between two words. So a
 * file that stopped a fuzzer needs nothing else to be replayed.
 */

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

/* ---- The database. -------------------------------------------------------------------------- */

/* The database that the settings name. */
const char *sim_cli_db(const struct sim_cli *cli);

/* Open it, to read, to write. 0, or the exit status after a line. */
int sim_cli_open_read(const struct sim_cli *cli, struct sim_store **ret_store);
int sim_cli_open_write(const struct sim_cli *cli, struct sim_store **ret_store);

/* 0, or the exit status after the line of a call of `store` that ended so. */
int sim_cli_stored(const struct sim_store *store, enum sim_store_err err);
