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
    uint64_t next_ms; /* Of the next output. */
};

void sim_progress_init(struct sim_progress *progress);

/* `runs` of `asked` (UINT64_MAX: open) of the scenario `name` are done. `now`: print at once. */
void sim_progress_tick(struct sim_progress *progress, const char *name, uint64_t runs,
        uint64_t asked, uint64_t failures, bool now);

/* Removes the bar, before anything else is printed. */
void sim_progress_clear(struct sim_progress *progress);

/* Columns of lines on stdout: the terminal's, 40 to 100; 100 where stdout is no terminal. */
#define SIM_COLUMNS_MIN 40u
#define SIM_COLUMNS_MAX 100u
uint32_t sim_columns(void);

/* Prints `text` on stdout from `column` on, where the line stands, and ends the line; what does not
 * fit into sim_columns() continues at `indent` of the next line. A word that is longer than a line
 * stays whole. */
void sim_print_folded(const char *text, size_t column, uint32_t indent);

/* Prints each line of `text` folded; one that begins with a blank stays as it is. */
void sim_print_paragraphs(const char *text);
