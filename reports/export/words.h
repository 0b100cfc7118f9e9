/*
 * words.h -- what every format says of a sweep and of a way to fail, in the same words.
 *
 * Strings are from malloc, unless they are const.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_EXPORT_WORDS_H
#define REPORTS_EXPORT_WORDS_H

#include "reports/model/sweeps.h"
#include "sim/cli/print/format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "3 of 1000 runs failed so; this is run:8."; and whether a remembered one did. */
char *report_way_count(const struct report_sweep *sweep, const struct report_way *way);

/* "scenarios/canary/leak.c:30 taker_poll"; "" where no line is known. */
char *report_way_place(const struct report_way *way);

/* The way as a reader of a list should see it: which wake is missing where that is known. "" for
 * nothing; names are in quotes. */
char *report_way_answer(const struct report_way *way);

/* What went wrong, one sentence; the verdict where nothing more was kept. */
const char *report_way_message(const struct report_way *way);

/* A command to paste: "rewake replay ./mine.so rw1:…", of the smallest run that is known. */
char *report_way_command(const struct sim_export *export, const struct report_sweep *sweep,
        const struct report_way *way, const char *command);

/* What the database says that a word of `table` ("verdicts", "oracles") means; "" for none. */
char *report_word_meaning(struct sim_store *store, const char *table, const char *word);

/* Why a sweep failed, or was cut, where none of its ways to fail says so; "" otherwise. */
char *report_sweep_reason(const struct report_sweep *sweep);

/* Its first way to fail that counts; NULL: there is none. */
const struct report_way *report_sweep_first_way(const struct report_sweep *sweep);

/* "1000 runs by portfolio from seed 1, 3 failed", with the stated verdict if it is held to one, and
 * the remembered ones. */
char *report_sweep_sentence(const struct report_sweep *sweep);

#ifdef __cplusplus
}
#endif
#endif
