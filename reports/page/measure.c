/*
 * measure.c -- how wide a text will be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/measure.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/assert.h"

/* Of ' ' to '~' in DejaVu Sans, in hundredths of its size. */
static const uint8_t widths[] = {32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78,
        76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84,
        50, 50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62, 64, 64, 42, 53, 40, 64,
        60, 82, 60, 60, 53, 64, 34, 64, 84};

static bool
goes_on(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

/* What is not ASCII counts as a wide letter. */
static uint32_t
width_of(char c)
{
    if (goes_on(c)) {
        return 0;
    }
    return c >= ' ' && c <= '~' ? widths[c - ' '] : 100;
}

uint32_t
report_measure(const char *text, size_t length)
{
    uint32_t width = 0;
    for (size_t i = 0; i < length; i++) {
        width += width_of(text[i]);
    }
    return width;
}

uint32_t
report_measure_px(const char *text, size_t length, uint32_t font_px)
{
    return (report_measure(text, length) * font_px + 99) / 100;
}

size_t
report_measure_fit(const char *text, size_t length, uint32_t font_px, uint32_t width_px)
{
    uint32_t width = 0;
    size_t fits = 0;
    for (size_t i = 0; i < length; i++) {
        width += width_of(text[i]) * font_px;
        if (width > width_px * 100 && fits > 0) {
            break;
        }
        if (i + 1 == length || !goes_on(text[i + 1])) {
            fits = i + 1;
        }
    }
    return fits;
}

size_t
report_measure_break(
        const char *text, size_t length, uint32_t font_px, uint32_t width_px, size_t *ret_next)
{
    rt_assert(font_px > 0 && width_px > 0);
    size_t fits = report_measure_fit(text, length, font_px, width_px);
    size_t line = fits;
    if (fits < length && text[fits] != ' ') {
        while (line > 0 && text[line - 1] != ' ') {
            line--;
        }
        line = line > 0 ? line : fits; /* One word, wider than the line. */
    }
    *ret_next = line;
    while (*ret_next < length && text[*ret_next] == ' ') {
        ++*ret_next;
    }
    while (line > 0 && text[line - 1] == ' ') {
        line--;
    }
    return line;
}
