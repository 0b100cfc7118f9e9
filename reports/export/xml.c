/*
 * xml.c -- text from anywhere, as XML 1.0 takes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/xml.h"

#include <stdbool.h>

#include "sim/base/utf8.h"

static bool
is_allowed(uint32_t character)
{
    return character == '\t' || character == '\n' || character == '\r' ||
           (character >= 0x20 && character < 0xd800) ||
           (character >= 0xe000 && character < 0xfffe) || character >= 0x10000;
}

static const char *
escape_text(uint32_t character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;"; /* A reader would make a line end of it. */
    default:
        return is_allowed(character) ? NULL : SIM_NO_CHARACTER_UTF8;
    }
}

static const char *
escape_attribute(uint32_t character)
{
    return character == '"'    ? "&quot;"
           : character == '\n' ? "&#10;"
           : character == '\t' ? "&#9;"
                               : escape_text(character);
}

void
report_xml_text(FILE *file, const char *text)
{
    sim_escape_put(file, text, escape_text);
}

void
report_xml_attribute(FILE *file, const char *name, const char *value)
{
    (void)fprintf(file, " %s=\"", name);
    sim_escape_put(file, value, escape_attribute);
    (void)fputc('"', file);
}
