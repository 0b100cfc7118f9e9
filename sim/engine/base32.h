/*
 * base32.h -- bytes as lower case letters and digits, with one spelling only.
 *
 * RFC 4648's alphabet in lower case, without padding. What is read back is strict:
 * another character, a length that no bytes have, or unused bits that are not 0
 * are refused, so every text stands for at most one sequence of bytes, and every
 * sequence for exactly one text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters for `size` bytes, without the final 0. */
size_t sim_base32_length(size_t size);

/* Writes sim_base32_length(size) characters and a final 0. */
void sim_base32_encode(const uint8_t *bytes, size_t size, char *ret_text);

/* Reads `length` untrusted characters into `ret_bytes` (space for length * 5 / 8). */
bool sim_base32_decode(const char *text, size_t length, uint8_t *ret_bytes, size_t *ret_size);
