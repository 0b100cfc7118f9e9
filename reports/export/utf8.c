/*
 * utf8.c -- which bytes make a character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/utf8.h"

#include <stdint.h>

/* What sequences of two, three and four bytes say at least: a longer form of less is none. */
static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t
length_by(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t
report_utf8_next(const char *text, bool *ret_good)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = length_by(at[0]);
    uint32_t character = length > 1 ? at[0] & (0xffu >> (length + 1)) : at[0];
    bool good = length > 0;
    for (size_t i = 1; good && i < length; i++) {
        good = (at[i] & 0xc0) == 0x80; /* Of the zero at the end this is not true. */
        character = character << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = character >= 0xd800 && character < 0xe000;
    good = good && character >= least[length] && character <= 0x10ffff && !surrogate;
    *ret_good = good;
    return good ? length : 1;
}
