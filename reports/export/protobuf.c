/*
 * protobuf.c -- varints, keys and lengths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/protobuf.h"

#include <stdbool.h>

#include "runtime/base/assert.h"
#include "sim/base/utf8.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* The longest varint of 64 bits; and the width of every length that is filled in later. */
#define VARINT_MAX 10u
#define LENGTH_WIDTH 4u

static void
put_varint(struct sim_page *out, uint64_t number)
{
    char bytes[VARINT_MAX];
    size_t size = 0;
    do {
        bytes[size] = (char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
        size++;
    } while (number != 0);
    sim_page_add(out, bytes, size);
}

static void
put_key(struct sim_page *out, uint32_t field, enum wire wire)
{
    rt_assert(field >= 1);
    put_varint(out, (uint64_t)field << 3 | wire);
}

void
report_protobuf_number(struct sim_page *out, uint32_t field, uint64_t number)
{
    put_key(out, field, WIRE_VARINT);
    put_varint(out, number);
}

void
report_protobuf_fixed64(struct sim_page *out, uint32_t field, uint64_t number)
{
    char bytes[8];
    for (uint32_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(number >> (8 * i));
    }
    put_key(out, field, WIRE_FIXED64);
    sim_page_add(out, bytes, sizeof(bytes));
}

void
report_protobuf_text(struct sim_page *out, uint32_t field, const char *text)
{
    size_t mark = report_protobuf_open(out, field);
    for (size_t length = 0; *text != '\0'; text += length) {
        if (sim_character(text, &length) == SIM_NO_CHARACTER) {
            sim_page_put(out, SIM_NO_CHARACTER_UTF8);
        } else {
            sim_page_add(out, text, length);
        }
    }
    report_protobuf_close(out, mark);
}

size_t
report_protobuf_open(struct sim_page *out, uint32_t field)
{
    put_key(out, field, WIRE_BYTES);
    sim_page_fill(out, '\0', LENGTH_WIDTH);
    return out->length;
}

void
report_protobuf_close(struct sim_page *out, size_t mark)
{
    size_t size = out->length - mark;
    rt_assert(mark >= LENGTH_WIDTH && mark <= out->length);
    rt_assert(size < (size_t)1 << (7 * LENGTH_WIDTH));
    for (uint32_t i = 0; i < LENGTH_WIDTH; i++) {
        bool last = i == LENGTH_WIDTH - 1;
        out->bytes[mark - LENGTH_WIDTH + i] = (char)((size >> (7 * i) & 0x7f) | (last ? 0 : 0x80));
    }
}
