/*
 * measure.h -- the width of a text, without a browser.
 *
 * Text in a picture does not wrap by itself, and the reader's font is not known. Widths are those
 * of a wide one (DejaVu Sans), so that what fits here fits everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The width of `length` bytes, in hundredths of a pixel per pixel of the font's size. */
uint32_t report_measure(const char *text, size_t length);

/* The width in pixels at a size of `font_px`, rounded up. */
uint32_t report_measure_px(const char *text, size_t length, uint32_t font_px);

/* How many bytes fit into `width_px`, of whole letters; at least one letter of any text. */
size_t report_measure_fit(const char *text, size_t length, uint32_t font_px, uint32_t width_px);

/* The length of the first line of `text` broken at blanks to `width_px`; a word that is too long
 * is cut up. *ret_next is where the next line begins. */
size_t report_measure_break(
        const char *text, size_t length, uint32_t font_px, uint32_t width_px, size_t *ret_next);
