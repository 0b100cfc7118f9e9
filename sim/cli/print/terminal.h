/*
 * terminal.h -- colours, and how far a command has come.
 *
 * Colours: NO_COLOR switches them off, CLICOLOR_FORCE on, else they are for terminals
 * that are not TERM=dumb. Progress goes to stderr: a bar that is written over on such a
 * terminal, elsewhere a line now and then; nothing that ends sooner than that says
 * anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_PRINT_TERMINAL_H
#define SIM_CLI_PRINT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether what goes to stdout may be coloured. */
bool sim_terminal_colour(void);

struct sim_progress {
    bool bar;
    bool shown; /* A bar stands in the current line. */
    uint64_t start_ms;
    uint64_t next_ms; /* When to say something again. */
};

void sim_progress_init(struct sim_progress *progress);

/* `runs` of `asked` (UINT64_MAX: open) of the scenario `name` are done. `now`: say it in any
 * case. */
void sim_progress_tick(struct sim_progress *progress, const char *name, uint64_t runs,
        uint64_t asked, uint64_t failures, bool now);

/* Takes the bar away, before anything else is printed. */
void sim_progress_clear(struct sim_progress *progress);

/* Widest line of what is told. */
#define SIM_COLUMNS 100u

/* Prints `text` on stdout, from `column` on, where the line stands; what does not fit into
 * SIM_COLUMNS goes on at `indent` of the next line. A word that is longer than a line stays
 * whole. */
void sim_print_folded(const char *text, size_t column, uint32_t indent);

#endif
