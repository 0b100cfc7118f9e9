/*
 * tape.c -- appending deviations, and tapes as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/tape.h"

#include "runtime/base/assert.h"
#include "sim/core/decide/choice.h"

/* Longest varint of a 32-bit number. */
#define VARINT_MAX 5u
#define FIELDS 6u

bool
sim_tape_append(struct sim_tape *tape, const struct sim_deviation *deviation)
{
    rt_assert(deviation->index > 0);
    rt_assert(deviation->index < deviation->n);
    if (tape->count == tape->capacity) {
        return false;
    }
    tape->entries[tape->count++] = *deviation;
    return true;
}

size_t
sim_tape_encoded_max(const struct sim_tape *tape)
{
    return (size_t)tape->count * FIELDS * VARINT_MAX;
}

static size_t
put(uint8_t *bytes, uint32_t value)
{
    size_t used = 0;
    while (value >= 0x80) {
        bytes[used++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[used++] = (uint8_t)value;
    return used;
}

size_t
sim_tape_encode(const struct sim_tape *tape, uint8_t *bytes)
{
    size_t used = 0;
    for (uint32_t i = 0; i < tape->count; i++) {
        const struct sim_deviation *entry = &tape->entries[i];
        used += put(bytes + used, entry->stream);
        used += put(bytes + used, entry->ordinal);
        used += put(bytes + used, entry->kind);
        used += put(bytes + used, entry->n);
        used += put(bytes + used, entry->index);
        used += put(bytes + used, entry->id);
    }
    rt_assert(used <= sim_tape_encoded_max(tape));
    return used;
}

/* Untrusted bytes from here on. */
struct reader {
    const uint8_t *bytes;
    size_t size;
    size_t at;
};

static bool
get(struct reader *reader, uint32_t *ret_value)
{
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 7 * VARINT_MAX; shift += 7) {
        if (reader->at == reader->size) {
            return false;
        }
        uint8_t byte = reader->bytes[reader->at++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *ret_value = (uint32_t)value;
            /* One number has one spelling: no second token for the same tape. */
            return value <= UINT32_MAX && (byte != 0 || shift == 0);
        }
    }
    return false;
}

static bool
get_deviation(struct reader *reader, struct sim_deviation *ret)
{
    uint32_t field[FIELDS];
    for (uint32_t i = 0; i < FIELDS; i++) {
        if (!get(reader, &field[i])) {
            return false;
        }
    }
    if (field[2] >= SIM_KINDS || field[3] > SIM_ALTERNATIVES_MAX || field[4] == 0 ||
            field[4] >= field[3]) {
        return false;
    }
    *ret = (struct sim_deviation){
            .stream = field[0],
            .ordinal = field[1],
            .kind = (uint8_t)field[2],
            .n = (uint8_t)field[3],
            .index = (uint8_t)field[4],
            .id = field[5],
    };
    return true;
}

rt_err
sim_tape_decode(struct sim_tape *tape, const uint8_t *bytes, size_t size)
{
    struct reader reader = {bytes, size, 0};
    tape->count = 0;
    while (reader.at < reader.size) {
        struct sim_deviation deviation;
        if (!get_deviation(&reader, &deviation)) {
            tape->count = 0;
            return RT_E_INVALID;
        }
        if (!sim_tape_append(tape, &deviation)) {
            tape->count = 0;
            return RT_E_FULL;
        }
    }
    return RT_OK;
}
