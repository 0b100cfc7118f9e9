/*
 * page.c -- growing text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/link.h"

/* Makes space for `more` bytes and the terminator. */
static void
page_reserve(struct sim_page *page, size_t more)
{
    size_t needed = page->length + more + 1;
    if (needed <= page->capacity) {
        return;
    }
    size_t capacity = page->capacity != 0 ? page->capacity : 256;
    while (capacity < needed) {
        capacity *= 2;
    }
    page->bytes = sim_heap_resize(page->bytes, capacity, 1);
    page->capacity = capacity;
}

/* Bytes 10xxxxxx continue a code point. */
static bool
continues(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

static bool
is_control(char c)
{
    return (unsigned char)c < 0x20u || (unsigned char)c == 0x7fu;
}

void
sim_page_init(struct sim_page *page, bool colour)
{
    rt_assert(page != NULL);
    *page = (struct sim_page){.colour = colour};
}

void
sim_page_fini(struct sim_page *page)
{
    rt_assert(page != NULL);
    free(page->bytes);
    free(page->refs);
    *page = (struct sim_page){0};
}

uint32_t
sim_page_width(const struct sim_page *page)
{
    return page->width != 0 ? page->width : SIM_PAGE_WIDTH;
}

void
sim_page_clear(struct sim_page *page)
{
    page->length = 0;
    page->refs_count = 0;
    if (page->bytes != NULL) {
        page->bytes[0] = '\0';
    }
}

const char *
sim_page_text(const struct sim_page *page)
{
    return page->bytes != NULL ? page->bytes : "";
}

void
sim_page_add(struct sim_page *page, const char *text, size_t length)
{
    rt_assert(text != NULL || length == 0);
    if (length == 0) {
        return;
    }
    page_reserve(page, length);
    memcpy(page->bytes + page->length, text, length);
    page->length += length;
    page->bytes[page->length] = '\0';
}

void
sim_page_put(struct sim_page *page, const char *text)
{
    sim_page_add(page, text, strlen(text));
}

void
sim_page_fill(struct sim_page *page, char c, size_t count)
{
    if (count == 0) {
        return;
    }
    page_reserve(page, count);
    memset(page->bytes + page->length, c, count);
    page->length += count;
    page->bytes[page->length] = '\0';
}

void
sim_page_printf(struct sim_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length <= 0) {
        return;
    }
    page_reserve(page, (size_t)length);
    va_start(arguments, format);
    (void)vsnprintf(page->bytes + page->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    page->length += (size_t)length;
}

void
sim_page_clean(struct sim_page *page, const char *text)
{
    if (text == NULL) {
        return;
    }
    size_t length = strlen(text);
    /* The end of a line is no part of a name. */
    while (length > 0 && is_control(text[length - 1])) {
        length--;
    }
    size_t start = page->length;
    sim_page_add(page, text, length);
    for (size_t i = start; i < page->length; i++) {
        if (is_control(page->bytes[i])) {
            page->bytes[i] = ' ';
        }
    }
}

/* ---- References. ----------------------------------------------------------------------------- */

static void
add_ref(struct sim_page *page, struct sim_ref ref)
{
    sim_heap_grow(&page->refs, page->refs_count, &page->refs_capacity, sizeof(ref));
    page->refs[page->refs_count++] = ref;
}

void
sim_page_refer(struct sim_page *page, enum sim_ref_kind kind, size_t from, uint64_t number)
{
    rt_assert(from <= page->length);
    if (from < page->length) {
        add_ref(page,
                (struct sim_ref){.kind = kind, .from = from, .to = page->length, .number = number});
    }
}

void
sim_page_put_step(struct sim_page *page, uint64_t step)
{
    size_t from = page->length;
    sim_page_printf(page, "step %llu", (unsigned long long)step);
    sim_page_refer(page, SIM_REF_STEP, from, step);
}

void
sim_page_put_name(struct sim_page *page, const char *name)
{
    size_t from = page->length;
    sim_page_put(page, "`");
    sim_page_clean(page, name);
    sim_page_put(page, "`");
    sim_page_refer(page, SIM_REF_NAME, from, 0);
}

void
sim_page_put_line(struct sim_page *page, const char *file, uint32_t line)
{
    size_t from = page->length;
    const char *slash = strrchr(file, '/');
    sim_page_printf(page, "%s:%u", slash != NULL ? slash + 1 : file, line);
    sim_page_refer(page, SIM_REF_LINE, from, line);
    page->refs[page->refs_count - 1].file = file;
}

void
sim_page_trim(struct sim_page *page)
{
    while (page->length > 0 &&
            (page->bytes[page->length - 1] == '\n' || page->bytes[page->length - 1] == ' ')) {
        page->bytes[--page->length] = '\0';
    }
}

void
sim_page_join(struct sim_page *page, const struct sim_page *from)
{
    size_t at = page->length;
    rt_assert(page != from);
    sim_page_add(page, sim_page_text(from), from->length);
    for (uint32_t i = 0; i < from->refs_count; i++) {
        struct sim_ref ref = from->refs[i];
        ref.from += at;
        ref.to += at;
        add_ref(page, ref);
    }
}

void
sim_page_tone(struct sim_page *page, enum sim_tone tone)
{
    static const char *const escapes[] = {
            [SIM_TONE_PLAIN] = "\033[0m",
            [SIM_TONE_BAD] = "\033[1;31m",
            [SIM_TONE_GOOD] = "\033[32m",
            [SIM_TONE_DIM] = "\033[2m",
            [SIM_TONE_HEAD] = "\033[1m",
    };
    rt_assert((unsigned)tone <= (unsigned)SIM_TONE_HEAD);
    if (page->colour) {
        sim_page_put(page, escapes[tone]);
        page->tone = (uint8_t)tone;
    }
}

uint32_t
sim_text_width(const char *text, size_t length)
{
    uint32_t width = 0;
    for (size_t i = 0; i < length; i++) {
        width += continues(text[i]) ? 0 : 1;
    }
    return width;
}

size_t
sim_text_fit(const char *text, size_t length, uint32_t width)
{
    uint32_t used = 0;
    for (size_t i = 0; i < length; i++) {
        used += continues(text[i]) ? 0 : 1;
        if (used > width) {
            return i;
        }
    }
    return length;
}

size_t
sim_text_break(const char *text, size_t length, uint32_t width, size_t *ret_next)
{
    rt_assert(width > 0);
    size_t fit = sim_text_fit(text, length, width);
    size_t end = fit;
    if (fit < length) {
        while (end > 0 && text[end] != ' ') {
            end--;
        }
        if (end == 0) {
            end = fit;
        }
    }
    size_t next = end;
    while (next < length && text[next] == ' ') {
        next++;
    }
    while (end > 0 && text[end - 1] == ' ') {
        end--;
    }
    rt_assert(next > 0 || length == 0);
    *ret_next = next;
    return end;
}

/* ---- Paragraphs. ----------------------------------------------------------------------------- */

#define LINK "\033]8;;"
#define LINK_END "\033\\"

static void
begin_ref(struct sim_page *page, const struct sim_ref *ref)
{
    if (ref->kind == SIM_REF_LINE) {
        const char *form = sim_link_form();
        sim_page_put(page, LINK);
        sim_link_put(page, form != NULL ? form : "file://{path}", ref->file, ref->file,
                (uint32_t)ref->number);
        sim_page_put(page, LINK_END "\033[36m");
    } else if (ref->kind == SIM_REF_NAME) {
        sim_page_put(page, "\033[1m");
    }
}

static void
end_ref(struct sim_page *page, const struct sim_ref *ref)
{
    enum sim_tone tone = page->tone;
    if (ref->kind == SIM_REF_LINE) {
        sim_page_put(page, LINK LINK_END);
    }
    sim_page_tone(page, SIM_TONE_PLAIN);
    if (tone != SIM_TONE_PLAIN) {
        sim_page_tone(page, tone);
    }
}

/* Bytes from .. to-1 of the text, and what in them refers to something, from *next on. */
static void
put_referring(
        struct sim_page *page, const struct sim_page *line, size_t from, size_t to, uint32_t *next)
{
    const char *text = sim_page_text(line);
    while (page->colour && *next < line->refs_count && line->refs[*next].from < to) {
        const struct sim_ref *ref = &line->refs[*next];
        size_t begin = ref->from > from ? ref->from : from;
        size_t end = ref->to < to ? ref->to : to;
        if (ref->kind != SIM_REF_STEP && end > begin) {
            sim_page_add(page, text + from, begin - from);
            begin_ref(page, ref);
            sim_page_add(page, text + begin, end - begin);
            end_ref(page, ref);
            from = end;
        }
        if (ref->to > to) {
            break; /* It continues in the next line. */
        }
        (*next)++;
    }
    sim_page_add(page, text + from, to - from);
}

static void
wrap(struct sim_page *page, const struct sim_page *line, uint32_t first, uint32_t indent,
        uint32_t width)
{
    uint32_t margin = first;
    uint32_t referred = 0;
    rt_assert(first < width && indent < width);
    for (size_t at = 0, next = 0; at < line->length; at += next) {
        size_t length = sim_text_break(line->bytes + at, line->length - at, width - margin, &next);
        sim_page_fill(page, ' ', margin);
        put_referring(page, line, at, at + length, &referred);
        sim_page_add(page, "\n", 1);
        margin = indent;
    }
}

void
sim_page_put_referring(struct sim_page *page, const struct sim_page *line)
{
    uint32_t referred = 0;
    put_referring(page, line, 0, line->length, &referred);
}

void
sim_page_wrap(
        struct sim_page *page, const char *text, uint32_t first, uint32_t indent, uint32_t width)
{
    const struct sim_page line = {.bytes = (char *)(uintptr_t)text, .length = strlen(text)};
    wrap(page, &line, first, indent, width);
}

void
sim_page_paragraph(struct sim_page *page, const struct sim_page *line, uint32_t indent)
{
    if (page->flat) {
        sim_page_join(page, line);
        sim_page_put(page, "\n");
    } else {
        wrap(page, line, indent, indent, sim_page_width(page));
    }
}

void
sim_page_time(struct sim_page *page, uint64_t ns)
{
    static const struct {
        uint64_t size;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ns < units[i].size) {
            continue;
        }
        uint32_t thousandths = (uint32_t)(ns % units[i].size / (units[i].size / 1000));
        char decimals[8];
        (void)snprintf(decimals, sizeof(decimals), ".%03u", thousandths % 1000);
        size_t length = 4;
        while (length > 1 && decimals[length - 1] == '0') {
            length--;
        }
        decimals[length > 1 ? length : 0] = '\0';
        sim_page_printf(page, "%llu%s%s", (unsigned long long)(ns / units[i].size), decimals,
                units[i].name);
        return;
    }
    sim_page_printf(page, "%lluns", (unsigned long long)ns);
}
