/*
 * xml.c -- text from anywhere, as XML 1.0 takes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

uint32_t
report_character(const char *at, size_t *ret_length)
{
    const unsigned char *text = (const unsigned char *)at;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t character = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    bool good = text[0] < 0x80 || (text[0] >= 0xc2 && text[0] < 0xf5);
    for (size_t i = 1; good && i < length; i++) {
        good = (text[i] & 0xc0) == 0x80; /* Of the zero at the end this is not true. */
        character = character << 6 | (text[i] & 0x3fu);
    }
    good = good && character >= least[length] && character <= 0x10ffff;
    *ret_length = good ? length : 1;
    return good ? character : 0xfffd;
}

static bool
is_allowed(uint32_t character)
{
    return character == '\t' || character == '\n' || character == '\r' ||
           (character >= 0x20 && character < 0xd800) ||
           (character >= 0xe000 && character < 0xfffe) || character >= 0x10000;
}

/* NULL: it stands for itself. */
static const char *
escape(uint32_t character, bool attribute)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return attribute ? "&quot;" : NULL;
    case '\n':
        return attribute ? "&#10;" : NULL;
    case '\t':
        return attribute ? "&#9;" : NULL;
    case '\r':
        return "&#13;"; /* A reader would make a line end of it. */
    default:
        return is_allowed(character) ? NULL : "\xef\xbf\xbd";
    }
}

static void
put(FILE *file, const char *text, bool attribute)
{
    size_t length = 0;
    for (; *text != '\0'; text += length) {
        uint32_t character = report_character(text, &length);
        const char *instead = escape(character, attribute);
        instead = instead == NULL && character == 0xfffd ? "\xef\xbf\xbd" : instead;
        if (instead != NULL) {
            (void)fputs(instead, file);
        } else {
            (void)fwrite(text, 1, length, file);
        }
    }
}

void
report_xml_text(FILE *file, const char *text)
{
    put(file, text, false);
}

void
report_xml_attribute(FILE *file, const char *name, const char *value)
{
    (void)fprintf(file, " %s=\"", name);
    put(file, value, true);
    (void)fputc('"', file);
}
