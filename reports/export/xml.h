/*
 * xml.h -- text from anywhere, as XML 1.0 takes it.
 *
 * XML has no way to say most control characters, not even escaped: they become U+FFFD, as do bytes
 * that are no UTF-8. In an attribute, line ends and tabs are escaped: a reader would make blanks
 * of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_EXPORT_XML_H
#define REPORTS_EXPORT_XML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The character at `text`, which is not at its end, and its bytes; U+FFFD and 1 where they are no
 * UTF-8. For every format: all of them are UTF-8. */
uint32_t report_character(const char *text, size_t *ret_length);

/* Text between tags. */
void report_xml_text(FILE *file, const char *text);

/* A blank, and name="value". */
void report_xml_attribute(FILE *file, const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
