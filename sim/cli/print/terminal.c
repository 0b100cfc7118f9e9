/*
 * terminal.c -- asking the environment, and drawing a bar.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/print/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/engine/clock.h"

#define BAR_EVERY_MS 200
#define LINE_EVERY_MS 5000
#define BAR_WIDTH 24u

static bool
is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

static bool
is_dumb(void)
{
    const char *term = getenv("TERM");
    return term == NULL || strcmp(term, "dumb") == 0;
}

bool
sim_terminal_colour(void)
{
    const char *force = getenv("CLICOLOR_FORCE");
    if (is_set("NO_COLOR")) {
        return false;
    }
    if (force != NULL && *force != '\0' && strcmp(force, "0") != 0) {
        return true;
    }
    return isatty(STDOUT_FILENO) && !is_dumb();
}

void
sim_progress_init(struct sim_progress *progress)
{
    uint64_t now_ms = sim_clock_ms();
    *progress = (struct sim_progress){
            .bar = isatty(STDERR_FILENO) && !is_dumb(),
            .start_ms = now_ms,
    };
    progress->next_ms = now_ms + (progress->bar ? BAR_EVERY_MS : LINE_EVERY_MS);
}

/* Columns of the terminal that shows the bar; 80 where it does not say. */
static size_t
columns(void)
{
    struct winsize size = {.ws_col = 0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void
draw_bar(uint64_t runs, uint64_t asked)
{
    char bar[BAR_WIDTH + 1];
    uint64_t full = asked == UINT64_MAX || asked == 0 ? 0 : runs * BAR_WIDTH / asked;
    rt_assert(full <= BAR_WIDTH);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', full);
    bar[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "[%s] ", bar);
}

/* In one line of the terminal, whatever its width: a second one could not be taken back. */
static void
draw(const char *line, uint64_t runs, uint64_t asked)
{
    size_t room = columns() - 1;
    bool bar = asked != UINT64_MAX && strlen(line) + BAR_WIDTH + 3 <= room;
    (void)fputs("\r\033[K", stderr);
    if (bar) {
        draw_bar(runs, asked);
    }
    (void)fprintf(stderr, "%.*s", (int)room, line);
}

void
sim_progress_tick(struct sim_progress *progress, const char *name, uint64_t runs, uint64_t asked,
        uint64_t failures, bool now)
{
    uint64_t now_ms = sim_clock_ms();
    if (now_ms < progress->next_ms && !now) {
        return;
    }
    char of[32] = "";
    progress->next_ms = now_ms + (progress->bar ? BAR_EVERY_MS : LINE_EVERY_MS);
    if (asked != UINT64_MAX) {
        (void)snprintf(of, sizeof(of), " of %llu", (unsigned long long)asked);
    }
    char line[256];
    (void)snprintf(line, sizeof(line), "%s: %llu%s run%s, %llu failed, %llu s", name,
            (unsigned long long)runs, of, asked == 1 ? "" : "s", (unsigned long long)failures,
            (unsigned long long)((now_ms - progress->start_ms) / 1000));
    if (progress->bar) {
        draw(line, runs, asked);
    } else {
        (void)fprintf(stderr, "%s\n", line);
    }
    progress->shown = progress->bar;
}

void
sim_progress_clear(struct sim_progress *progress)
{
    if (progress->shown) {
        (void)fputs("\r\033[K", stderr);
        progress->shown = false;
    }
}

void
sim_print_folded(const char *text, size_t column, uint32_t indent)
{
    for (const char *word = text; *word != '\0';) {
        size_t length = strcspn(word, " ");
        size_t end = length + strspn(word + length, " ");
        if (column + length > SIM_COLUMNS && column > indent) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        }
        /* Blanks at the end of a line are nobody's. */
        size_t next = word[end] != '\0' ? strcspn(word + end, " ") : 0;
        bool ends = next == 0 || column + end + next > SIM_COLUMNS;
        (void)fwrite(word, 1, ends ? length : end, stdout);
        column += end;
        word += end;
    }
    (void)putchar('\n');
}
