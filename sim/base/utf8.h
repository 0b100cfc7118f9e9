/*
 * utf8.h -- text from anywhere, character by character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Stands for what is no character. */
#define SIM_NO_CHARACTER 0xfffdu
#define SIM_NO_CHARACTER_UTF8 "\xef\xbf\xbd"

/* The character at `text`, which is not at its end, and its bytes; SIM_NO_CHARACTER and 1 where
 * they are no UTF-8. */
uint32_t sim_character(const char *text, size_t *ret_length);

/* How a format writes a character; NULL: as it is. */
typedef const char *sim_escape(uint32_t character);

/* Writes text from anywhere: what is no UTF-8 becomes U+FFFD. */
void sim_escape_put(FILE *file, const char *text, sim_escape *escape);
