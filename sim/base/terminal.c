/*
 * terminal.c -- colours, progress, and folded lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/clock.h"
#include "sim/base/page.h"

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

/* Columns of a terminal; 80 where its width is unknown. */
static uint32_t
columns_of(int fd)
{
    struct winsize size = {.ws_col = 0};
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static uint32_t
columns_piped(void)
{
    const char *wanted = getenv("COLUMNS");
    unsigned long columns = wanted != NULL ? strtoul(wanted, NULL, 10) : 0;
    return columns > 0 && columns <= SIM_COLUMNS_MAX ? (uint32_t)columns : SIM_COLUMNS_PIPED;
}

uint32_t
sim_columns(void)
{
    uint32_t columns = isatty(STDOUT_FILENO) ? columns_of(STDOUT_FILENO) : columns_piped();
    columns = columns < SIM_COLUMNS_MAX ? columns : SIM_COLUMNS_MAX;
    return columns > SIM_COLUMNS_MIN ? columns : SIM_COLUMNS_MIN;
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

/* In one line of the terminal: a second one could not be overwritten. */
static void
draw(const char *line, uint64_t runs, uint64_t asked)
{
    size_t width = columns_of(STDERR_FILENO) - 1;
    bool bar = asked != UINT64_MAX && strlen(line) + BAR_WIDTH + 3 <= width;
    (void)fputs("\r\033[K", stderr);
    if (bar) {
        draw_bar(runs, asked);
    }
    (void)fprintf(stderr, "%.*s", (int)width, line);
}

static unsigned long long
seconds(uint64_t ms)
{
    return (unsigned long long)(ms / 1000);
}

/* "; 416 runs/s, 228 s left, last new behaviour 3 s ago". */
static void
put_pace(const struct sim_progress *progress, const struct sim_progress_state *state,
        uint64_t now_ms, struct sim_page *line)
{
    uint64_t ms = now_ms - progress->start_ms;
    if (ms < 1000 || state->runs < ms / 1000) {
        return; /* Too early for a rate, or too slow. */
    }
    sim_page_printf(line, "; %llu runs/s", (unsigned long long)(state->runs * 1000 / ms));
    if (state->asked != UINT64_MAX && state->asked > state->runs) {
        sim_page_printf(
                line, ", %llu s left", seconds((state->asked - state->runs) * ms / state->runs));
    }
    if (state->last_new > 0) {
        sim_page_printf(
                line, ", last new behaviour %llu s ago", seconds(now_ms - progress->new_ms));
    }
}

static void
put_state(const struct sim_progress *progress, const struct sim_progress_state *state,
        uint64_t now_ms, struct sim_page *line)
{
    sim_page_printf(line, "%s: %llu", state->name, (unsigned long long)state->runs);
    if (state->asked != UINT64_MAX) {
        sim_page_printf(line, " of %llu", (unsigned long long)state->asked);
    }
    sim_page_printf(line, " run%s, %llu failed, %llu s", state->asked == 1 ? "" : "s",
            (unsigned long long)state->failures, seconds(now_ms - progress->start_ms));
    put_pace(progress, state, now_ms, line);
}

void
sim_progress_tick(struct sim_progress *progress, const struct sim_progress_state *state)
{
    uint64_t now_ms = sim_clock_ms();
    if (state->last_new != progress->last_new) {
        progress->last_new = state->last_new;
        progress->new_ms = now_ms;
    }
    if (now_ms < progress->next_ms && !state->now) {
        return;
    }
    progress->next_ms = now_ms + (progress->bar ? BAR_EVERY_MS : LINE_EVERY_MS);
    struct sim_page line;
    sim_page_init(&line, false);
    put_state(progress, state, now_ms, &line);
    if (progress->bar) {
        draw(sim_page_text(&line), state->runs, state->asked);
    } else {
        (void)fprintf(stderr, "%s\n", sim_page_text(&line));
    }
    sim_page_fini(&line);
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

/* Bytes at the front of `text`, of `size`, that are blanks, or are none. */
static size_t
span(const char *text, size_t size, bool blank)
{
    size_t length = 0;
    while (length < size && (text[length] == ' ') == blank) {
        length++;
    }
    return length;
}

static void
print_folded(const char *text, size_t size, size_t column, uint32_t indent)
{
    size_t columns = sim_columns();
    for (size_t at = 0; at < size;) {
        const char *word = text + at;
        size_t length = span(word, size - at, false);
        size_t end = length + span(word + length, size - at - length, true);
        if (column + length > columns && column > indent) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        }
        /* No blanks at the end of a line. */
        size_t next = span(word + end, size - at - end, false);
        bool ends = next == 0 || column + end + next > columns;
        (void)fwrite(word, 1, ends ? length : end, stdout);
        column += end;
        at += end;
    }
    (void)putchar('\n');
}

void
sim_print_folded(const char *text, size_t column, uint32_t indent)
{
    print_folded(text, strlen(text), column, indent);
}

void
sim_print_paragraphs(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (*text == ' ') {
            (void)printf("%.*s\n", (int)length, text);
        } else {
            print_folded(text, length, 0, 0);
        }
        text += length + (text[length] == '\n');
    }
}
