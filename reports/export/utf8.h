/*
 * utf8.h -- text from anywhere, character by character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REPORTS_EXPORT_UTF8_H
#define REPORTS_EXPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Stands for what is no character. */
#define REPORT_UTF8_INSTEAD "\xef\xbf\xbd"

/* Bytes of the first character of `text`, which is not empty; 1 and *ret_good false where it
 * begins with a byte that is of none. */
size_t report_utf8_next(const char *text, bool *ret_good);

#endif
