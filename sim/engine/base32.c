/*
 * base32.c -- five bits a character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/base32.h"
#include "runtime/base/assert.h"

static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

size_t
sim_base32_length(size_t size)
{
    rt_assert(size <= SIZE_MAX / 8 - 1);
    return (size * 8 + 4) / 5;
}

void
sim_base32_encode(const uint8_t *bytes, size_t size, char *ret_text)
{
    uint32_t bits = 0;
    uint32_t held = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | bytes[i];
        held += 8;
        while (held >= 5) {
            held -= 5;
            *ret_text++ = digits[bits >> held & 31];
        }
    }
    rt_assert(held < 5);
    if (held > 0) {
        *ret_text++ = digits[bits << (5 - held) & 31];
    }
    *ret_text = '\0';
}

/* The value of one character, or 32. */
static uint32_t
value_of(char c)
{
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a');
    }
    return c >= '2' && c <= '7' ? (uint32_t)(c - '2') + 26 : 32;
}

bool
sim_base32_decode(const char *text, size_t length, uint8_t *ret_bytes, size_t *ret_size)
{
    uint32_t bits = 0;
    uint32_t held = 0;
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t value = value_of(text[i]);
        if (value == 32) {
            return false;
        }
        bits = bits << 5 | value;
        held += 5;
        if (held >= 8) {
            held -= 8;
            ret_bytes[size++] = (uint8_t)(bits >> held);
        }
    }
    rt_assert(held < 8);
    /* Five bits or more left over: a character that holds nothing. */
    if (held >= 5 || (bits & ((1u << held) - 1)) != 0) {
        return false;
    }
    rt_assert(size <= length * 5 / 8);
    *ret_size = size;
    return true;
}
