/*
 * subject.h -- the run that a command line names: a token, run:ID of the database, or a file that
 * stopped a fuzzer (artifact.h). A token may be in a file, as `@FILE`, or on stdin, as `-`.
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

/* The database that the settings name. */
const char *sim_cli_db(const struct sim_cli *cli);

/* Open it, to read, to write. 0, or the exit status after a line. */
int sim_cli_open_read(const struct sim_cli *cli, struct sim_store **ret_store);
int sim_cli_open_write(const struct sim_cli *cli, struct sim_store **ret_store);

/* 0, or the exit status after the line of a call of `store` that ended so. */
int sim_cli_stored(const struct sim_store *store, enum sim_store_err err);
