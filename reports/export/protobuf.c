/*
 * protobuf.c -- varints, keys and lengths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "reports/export/utf8.h"
#include "runtime/base/assert.h"

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* The longest varint of 64 bits; and the width of every length that is filled in later. */
#define VARINT_MAX 10u
#define LENGTH_WIDTH 4u

void
report_protobuf_fini(struct report_protobuf *out)
{
    free(out->bytes);
    *out = (struct report_protobuf){.bytes = NULL};
}

void
report_protobuf_clear(struct report_protobuf *out)
{
    out->length = 0;
}

/* Space for `size` more bytes; NULL: no memory. */
static uint8_t *
more(struct report_protobuf *out, size_t size)
{
    if (out->capacity - out->length < size) {
        size_t capacity = (out->length + size) * 2;
        uint8_t *bytes = out->failed ? NULL : realloc(out->bytes, capacity);
        if (bytes == NULL) {
            out->failed = true;
            return NULL;
        }
        out->bytes = bytes;
        out->capacity = capacity;
    }
    uint8_t *at = out->bytes + out->length;
    out->length += size;
    return at;
}

static void
put_bytes(struct report_protobuf *out, const void *bytes, size_t size)
{
    uint8_t *at = more(out, size);
    if (at != NULL && size > 0) {
        memcpy(at, bytes, size);
    }
}

static void
put_varint(struct report_protobuf *out, uint64_t number)
{
    uint8_t bytes[VARINT_MAX];
    size_t size = 0;
    do {
        bytes[size] = (uint8_t)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
        size++;
    } while (number != 0);
    put_bytes(out, bytes, size);
}

static void
put_key(struct report_protobuf *out, uint32_t field, enum wire wire)
{
    rt_assert(field >= 1);
    put_varint(out, (uint64_t)field << 3 | wire);
}

void
report_protobuf_number(struct report_protobuf *out, uint32_t field, uint64_t number)
{
    put_key(out, field, WIRE_VARINT);
    put_varint(out, number);
}

void
report_protobuf_fixed64(struct report_protobuf *out, uint32_t field, uint64_t number)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    put_key(out, field, WIRE_FIXED64);
    put_bytes(out, bytes, sizeof(bytes));
}

void
report_protobuf_text(struct report_protobuf *out, uint32_t field, const char *text)
{
    size_t mark = report_protobuf_open(out, field);
    while (*text != '\0') {
        bool good = false;
        size_t length = report_utf8_next(text, &good);
        if (good) {
            put_bytes(out, text, length);
        } else {
            put_bytes(out, REPORT_UTF8_INSTEAD, strlen(REPORT_UTF8_INSTEAD));
        }
        text += length;
    }
    report_protobuf_close(out, mark);
}

size_t
report_protobuf_open(struct report_protobuf *out, uint32_t field)
{
    put_key(out, field, WIRE_BYTES);
    (void)more(out, LENGTH_WIDTH);
    return out->length;
}

void
report_protobuf_close(struct report_protobuf *out, size_t mark)
{
    if (out->failed) {
        return;
    }
    size_t size = out->length - mark;
    rt_assert(mark >= LENGTH_WIDTH && mark <= out->length);
    rt_assert(size < (size_t)1 << (7 * LENGTH_WIDTH));
    for (uint32_t i = 0; i < LENGTH_WIDTH; i++) {
        bool last = i == LENGTH_WIDTH - 1;
        out->bytes[mark - LENGTH_WIDTH + i] =
                (uint8_t)((size >> (7 * i) & 0x7f) | (last ? 0 : 0x80));
    }
}
