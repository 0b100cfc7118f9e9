/*
 * words.h -- sentences on a sweep and on a way to fail, the same in every format.
 *
 * Strings are from malloc, unless they are const.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "reports/export/format.h"

/* "3 of 1000 runs failed this way; this is run:8."; and whether a remembered one did. */
char *report_way_count(const struct report_sweep *sweep, const struct report_way *way);

/* "scenarios/canary/leak.c:30 taker_poll"; "" where no line is known. */
char *report_way_place(const struct report_way *way);

/* The missing wake, with names in quotes; "" where none is known. */
char *report_way_answer(const struct report_way *way);

/* What went wrong, one sentence; else the verdict. */
const char *report_way_message(const struct report_way *way);

/* A command to paste: "rewake replay ./mine.so rw1:…", of the smallest run that is known. */
char *report_way_command(const struct report_export *export, const struct report_sweep *sweep,
        const struct report_way *way, const char *command);

/* The meaning of a word of `table` ("verdicts", "oracles") in the database; "" for none. */
char *report_word_meaning(struct sim_store *store, const char *table, const char *word);

/* Why a sweep failed or was cut short without a failing run; "" otherwise. */
char *report_sweep_reason(const struct report_sweep *sweep);

/* Its first way to fail that counts; NULL: there is none. */
const struct report_way *report_sweep_first_way(const struct report_sweep *sweep);

/* "1000 runs by portfolio from seed 1, 3 failed", with the expected verdict if it has one, and the
 * remembered failures. */
char *report_sweep_sentence(const struct report_sweep *sweep);
