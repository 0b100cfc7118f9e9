/*
 * utf8.c -- which bytes make a character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/utf8.h"

#include <stdbool.h>

uint32_t
sim_character(const char *text, size_t *ret_length)
{
    /* What sequences of two, three and four bytes say at least: a longer form of less is none. */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t character = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));
    bool good = at[0] < 0x80 || (at[0] >= 0xc2 && at[0] < 0xf5);
    for (size_t i = 1; good && i < length; i++) {
        good = (at[i] & 0xc0) == 0x80; /* Of the zero at the end this is not true. */
        character = character << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = character >= 0xd800 && character < 0xe000;
    good = good && character >= least[length] && character <= 0x10ffff && !surrogate;
    *ret_length = good ? length : 1;
    return good ? character : SIM_NO_CHARACTER;
}

void
sim_escape_put(FILE *file, const char *text, sim_escape *escape)
{
    size_t length = 0;
    for (; *text != '\0'; text += length) {
        uint32_t character = sim_character(text, &length);
        const char *instead = escape(character);
        if (instead == NULL && character == SIM_NO_CHARACTER) {
            instead = SIM_NO_CHARACTER_UTF8;
        }
        if (instead != NULL) {
            (void)fputs(instead, file);
        } else {
            (void)fwrite(text, 1, length, file);
        }
    }
}
