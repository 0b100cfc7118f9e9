/*
 * xml.h -- text from anywhere, as XML 1.0 takes it.
 *
 * XML has no way to say most control characters, not even escaped: they become U+FFFD, as do bytes
 * that are no UTF-8. In an attribute, line ends and tabs are escaped: a reader would make blanks
 * of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdio.h>

/* Text between tags. */
void report_xml_text(FILE *file, const char *text);

/* A blank, and name="value". */
void report_xml_attribute(FILE *file, const char *name, const char *value);
