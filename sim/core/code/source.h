/*
 * source.h -- lines of source, where the files are on this machine.
 *
 * The name of a file comes from debug information or from a database, which may be another's: only
 * a regular file of at most 8 MiB with the suffix of a source file is opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* To be closed by the caller; NULL: there is no such source file. *ret_modified_s, where it is not
 * NULL, is when it was written last, in seconds since 1970. */
FILE *sim_source_open(const char *file, int64_t *ret_modified_s);

/* Line `line`, counted from 1, without the blanks around it, cut to `size` - 1 bytes. False: there
 * is no such file or line, or it is empty. */
bool sim_source_line(const char *file, uint32_t line, char *ret_text, size_t size);

/* A line without a word is where a block ends. */
bool sim_source_ends_block(const char *file, uint32_t line);
