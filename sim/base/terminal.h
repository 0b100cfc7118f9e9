/*
 * terminal.h -- colours, progress, and folded lines.
 *
 * Colours: NO_COLOR switches them off, CLICOLOR_FORCE on; else terminals that are not TERM=dumb get
 * them. Progress goes to stderr: on such a terminal a bar that is overwritten, elsewhere a line
 * every 5 s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether stdout gets colours. */
bool sim_terminal_colour(void);

struct sim_progress {
    bool bar;
    bool shown; /* A bar is in the current line. */
    uint64_t start_ms;
    uint64_t next_ms;  /* Of the next output. */
    uint64_t last_new; /* As of the last tick, … */
    uint64_t new_ms;   /* … and when it became that. */
};

/* How far a search is. */
struct sim_progress_state {
    const char *name; /* Of the scenario. */
    uint64_t runs;
    uint64_t asked; /* UINT64_MAX: open. */
    uint64_t failures;
    uint64_t last_new; /* The last run that covered something new; 0: that is not counted. */
    bool now;          /* Print at once. */
};

void sim_progress_init(struct sim_progress *progress);

void sim_progress_tick(struct sim_progress *progress, const struct sim_progress_state *state);

/* Removes the bar, before anything else is printed. */
void sim_progress_clear(struct sim_progress *progress);

/* Columns of lines on stdout: the terminal's, 60 to 160; where it is none, COLUMNS, or 100. */
#define SIM_COLUMNS_MIN 60u
#define SIM_COLUMNS_MAX 160u
#define SIM_COLUMNS_PIPED 100u
uint32_t sim_columns(void);

/* Prints `text` on stdout from `column` on, where the line stands, and ends the line; what does not
 * fit into sim_columns() continues at `indent` of the next line. A word that is longer than a line
 * stays whole. */
void sim_print_folded(const char *text, size_t column, uint32_t indent);

/* Prints each line of `text` folded; one that begins with a blank stays as it is. */
void sim_print_paragraphs(const char *text);
