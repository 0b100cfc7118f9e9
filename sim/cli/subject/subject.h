/*
 * subject.h -- the run that somebody names: a token, run:ID of the database, or a file that stopped
 * a fuzzer (artifact.h). A token may stand in a file, as `@FILE`, or on stdin, as `-`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_SUBJECT_SUBJECT_H
#define SIM_CLI_SUBJECT_SUBJECT_H

#include "sim/cli/cli.h"
#include "sim/engine/worker/alone.h"
#include "sim/store/store.h"

struct sim_subject {
    const struct sim_entry *entry;
    struct sim_options options;
    uint64_t seed;
    uint32_t how;         /* enum sim_how */
    struct sim_tape tape; /* Owned. */
    /* What came out when it was made: verdict, oracle, site, digest; the rest is zero. */
    struct sim_outcome expected;
    bool half_digest;   /* Only the low 32 bits of the digest are known. */
    bool own_build;     /* The database says that this very build made it. */
    bool other_build;   /* It says that another one did; neither: it does not know the run. */
    bool other_library; /* And that its library was another one, or has been built again. */
    int64_t run;        /* In the database; 0: not known there. */
    bool has_events;    /* The database has its events. */
    bool from_file;     /* An artifact: what it came to is known from a run just now. */
    char *text;         /* Owned: the token that was read from stdin or a file; NULL: none. */
    char *token;        /* Owned: of run:ID, where the database has it; else NULL. */
    char *smaller;      /* Owned: the token of the smaller run that it was shrunk to; or NULL. */
};

/*
 * Finds what `name` means; loads the library that the database names when the scenario is
 * not there.
 * 0, or the exit status after one line on stderr. sim_subject_done may follow in any case.
 */
int sim_subject_find(struct sim_cli *cli, const char *name, struct sim_subject *ret_subject);

/* Whether `name` is run:ID. */
bool sim_subject_is_run(const char *name);

/* The token of run:ID, from malloc, without a look at its scenario: of the smaller run where it was
 * shrunk. 0, or the exit status after a line, and *ret_token is untouched or NULL. */
int sim_subject_token_of_run(const struct sim_cli *cli, const char *name, char **ret_token);

/* What names it in a command to paste: its token where that is known, else what was typed. */
const char *sim_subject_name(const struct sim_cli *cli, const struct sim_subject *subject);

/* Of a failure that has not come again: a line on what has changed since it was found, where the
 * database knows that, and lines with what to do. */
void sim_subject_say_changed(const struct sim_cli *cli, const struct sim_subject *subject);

/*
 * Where a smaller run is known that fails in the same way: a line for the head of what is told, or
 * one for its end, with `command` for the smaller run. Else nothing.
 */
void sim_subject_say_found(const struct sim_subject *subject);
void sim_subject_offer_smaller(
        const struct sim_cli *cli, const struct sim_subject *subject, const char *command);

void sim_subject_done(struct sim_subject *subject);

/*
 * Runs it alone, with a tape as `how` says (STRICT or LENIENT). 0, or the exit status after a line.
 * sim_alone_done must follow in any case.
 */
int sim_subject_run(struct sim_cli *cli, const struct sim_subject *subject, bool lenient,
        bool explain, struct sim_alone *alone);

/* How it is run. Zero: as its tape says, alone, and no more than that. */
struct sim_subject_way {
    bool lenient; /* A tape as far as it fits. */
    bool explain; /* Owed wake and FIFO order as well. */
    bool core;    /* A crash may leave a core. */
    bool quiet;   /* What it writes to stderr goes nowhere. */
    /* As in struct sim_alone_case. */
    struct sim_trap *trap;
    void (*study)(struct sim_world *world, const struct sim_case *what,
            const struct sim_outcome *outcome, void *study_of);
    void *study_of;
};

/* As sim_subject_run, in that way. */
int sim_subject_run_so(struct sim_cli *cli, const struct sim_subject *subject,
        const struct sim_subject_way *way, struct sim_alone *alone);

/* Whether it ended as expected: verdict, oracle and site; and whether it was the same run. */
bool sim_subject_same_failure(const struct sim_subject *subject, const struct sim_outcome *outcome);
bool sim_subject_same_run(const struct sim_subject *subject, const struct sim_outcome *outcome);

/* ---- file.c ---------------------------------------------------------------------------------- */

/* Whether `name` is that of a file, which then means the artifact in it. */
bool sim_subject_is_file(const char *name);

/* Reads the artifact at `path`, and runs it. 0, or the exit status after a line. */
int sim_subject_from_file(struct sim_cli *cli, const char *path, struct sim_subject *subject);

/* Writes the run as an artifact into a new file. 0, or the exit status after a line: one that is
 * there already is not touched. */
int sim_subject_write(struct sim_cli *cli, const struct sim_subject *subject, const char *path);

/* ---- text.c ---------------------------------------------------------------------------------- */

/* Whether `name` is `-` or `@FILE`: stdin, or a file, has the token. */
bool sim_subject_is_text(const char *name);

/* Reads it; *ret_text is from malloc, or NULL. 0, or the exit status after a line. */
int sim_subject_read_text(const char *name, char **ret_text);

/* As that, for any number of tokens, between blanks; a line that begins with # is for people. Each
 * ends with a '\0', and an empty one comes behind them. */
int sim_subject_read_list(const char *name, char **ret_list);

/* The database that the settings name. */
const char *sim_cli_db(const struct sim_cli *cli);

#endif
