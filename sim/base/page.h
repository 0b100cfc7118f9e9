/*
 * page.h -- growing text, and how wide it is.
 *
 * All text about a run is written to a page; the caller prints it. Widths
 * are counted in code points, so that a name with an umlaut does not shift a
 * column. Text that came from a scenario goes through sim_page_clean, which lets
 * no control character through to a terminal.
 *
 * Ownership. A page owns its bytes (heap.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PAGE_WIDTH 100u /* Of a page that is given no other width. */

enum sim_tone {
    SIM_TONE_PLAIN,
    SIM_TONE_BAD,  /* What went wrong. */
    SIM_TONE_GOOD, /* A wake. */
    SIM_TONE_DIM,  /* What was left out. */
    SIM_TONE_HEAD
};

/* What a piece of the text stands for. What was written is never searched for it. */
enum sim_ref_kind {
    SIM_REF_STEP, /* A step of the run that is described; `number` is its number. */
    SIM_REF_NAME, /* A name of the program's, between backquotes that are part of the piece. */
    SIM_REF_LINE  /* A line of source: "lost.c:22"; `number` is that of the line. */
};

struct sim_ref {
    enum sim_ref_kind kind;
    size_t from; /* Bytes from .. to-1 of the text. */
    size_t to;
    uint64_t number;
    const char *file; /* Of a line, as the compiler got it; borrowed. */
};

struct sim_page {
    char *bytes; /* NULL while empty; otherwise terminated. */
    size_t length;
    size_t capacity;
    struct sim_ref *refs; /* In the order of the text; sim_page_wrap leaves them out. */
    uint32_t refs_count;
    uint32_t refs_capacity;
    uint32_t width; /* No line of a report is wider, but for commands; 0: SIM_PAGE_WIDTH. */
    bool colour;    /* Tones, and what paragraphs refer to, become escape sequences. */
    uint8_t tone;   /* enum sim_tone */
    bool flat;      /* Paragraphs are one line each, with what they refer to. */
};

void sim_page_init(struct sim_page *page, bool colour);
void sim_page_fini(struct sim_page *page);

/* How wide its lines may be. */
uint32_t sim_page_width(const struct sim_page *page);

/* Empties it and keeps the memory. */
void sim_page_clear(struct sim_page *page);

/* What was written; "" for nothing. Valid until the page is written to again. */
const char *sim_page_text(const struct sim_page *page);

void sim_page_add(struct sim_page *page, const char *text, size_t length);
void sim_page_put(struct sim_page *page, const char *text);
void sim_page_fill(struct sim_page *page, char c, size_t count);
__attribute__((format(printf, 2, 3))) void sim_page_printf(
        struct sim_page *page, const char *format, ...);

/* Adds `text` (NULL: nothing) on one line: control characters become a blank each, those at its
 * end nothing. */
void sim_page_clean(struct sim_page *page, const char *text);

/* Notes that the text from byte `from` on stands for that. */
void sim_page_refer(struct sim_page *page, enum sim_ref_kind kind, size_t from, uint64_t number);

/* Adds "step 12", and what it refers to. */
void sim_page_put_step(struct sim_page *page, uint64_t step);

/* Adds a name of the program's on one line: "`client`". */
void sim_page_put_name(struct sim_page *page, const char *name);

/* Adds "lost.c:22", and what it refers to. `file` is borrowed. */
void sim_page_put_line(struct sim_page *page, const char *file, uint32_t line);

/* Takes newlines and blanks off its end. */
void sim_page_trim(struct sim_page *page);

/* Adds all of `from`, and what it refers to. */
void sim_page_join(struct sim_page *page, const struct sim_page *from);

/* Adds `line` as it is, in colour as a paragraph is. */
void sim_page_put_referring(struct sim_page *page, const struct sim_page *line);

/* Adds `line` as a paragraph: wrapped, `indent` blanks deep, or flat. In colour names are bold, and
 * lines of source lead to the file (link.h). */
void sim_page_paragraph(struct sim_page *page, const struct sim_page *line, uint32_t indent);

/* Text from here on has `tone`; nothing without colour. Must not stand inside a wrapped text. */
void sim_page_tone(struct sim_page *page, enum sim_tone tone);

/* Adds `text` broken at blanks into lines of at most `width`, the first after `first` and the
 * others after `indent` blanks; each line ends with a newline. A word too long for a line is cut
 * up. */
void sim_page_wrap(
        struct sim_page *page, const char *text, uint32_t first, uint32_t indent, uint32_t width);

/* How many columns `length` bytes take. */
uint32_t sim_text_width(const char *text, size_t length);

/* How many bytes of `text` fit into `width` columns. */
size_t sim_text_fit(const char *text, size_t length, uint32_t width);

/* The length of the first line of `text` when it is broken at blanks to `width` columns. *ret_next
 * is where the next line begins (at least one byte on, when there is any text). */
size_t sim_text_break(const char *text, size_t length, uint32_t width, size_t *ret_next);

/* Adds a time: "0ns", "950ns", "1.25us", "50ms", "2.5s". At most three decimals, cut off. */
void sim_page_time(struct sim_page *page, uint64_t ns);
