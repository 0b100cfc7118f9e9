/*
 * load.c -- events and texts of a run, out of the database and back into a recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/model/run.h"

#include <stdlib.h>
#include <string.h>

#include "reports/base/ask.h"
#include "sim/base/heap.h"

/* More than any ring has: such a database is corrupt. */
#define EVENTS_MAX (UINT64_C(1) << 24)

static uint64_t
power_of_two(uint64_t least)
{
    uint64_t power = SIM_CHUNK;
    while (power < least) {
        power *= 2;
    }
    return power;
}

/* ---- Events. --------------------------------------------------------------------------------- */

struct range {
    uint64_t first;
    uint64_t count;
};

/* A ring that has lost its first events is full: of any other number the last ones are taken, as
 * many as a ring could have. */
static struct range
believable(int64_t first, int64_t stored)
{
    struct range range = {first > 0 ? (uint64_t)first : 0, stored > 0 ? (uint64_t)stored : 0};
    range.count = range.count < EVENTS_MAX ? range.count : EVENTS_MAX;
    range.first = range.first < UINT32_MAX ? range.first : 0;
    if (range.first > 0 && power_of_two(range.count) != range.count) {
        uint64_t kept = power_of_two(range.count) / 2;
        kept = kept <= range.count ? kept : 0;
        range.first += range.count - kept;
        range.count = kept;
    }
    return range;
}

static enum sim_store_err
find_range(struct sim_store *store, int64_t number, struct range *ret_range)
{
    struct report_ask ask = report_ask(store, "SELECT first_n, stored FROM details WHERE run = ?");
    report_put_int(&ask, number);
    *ret_range = report_row(&ask) ? believable(report_int(&ask, 0), report_int(&ask, 1))
                                  : (struct range){.count = 0};
    return report_done(&ask);
}

static enum sim_store_err
load_events(struct sim_store *store, int64_t number, struct sim_recorder *recorder)
{
    struct range range;
    enum sim_store_err err = find_range(store, number, &range);
    if (err != SIM_STORE_OK) {
        return err;
    }
    uint64_t capacity = power_of_two(range.count);
    struct sim_event *read = sim_heap_new(range.count, sizeof(*read));
    recorder->memory.events = sim_heap_new(capacity, sizeof(*read));
    recorder->memory.events_capacity = (uint32_t)capacity;
    uint32_t count = 0;
    if (range.count > 0) {
        err = sim_store_read_events(
                store, number, range.first, read, (uint32_t)range.count, &count);
    }
    recorder->count = err == SIM_STORE_OK && count > 0 ? range.first + count : 0;
    for (uint32_t i = 0; err == SIM_STORE_OK && i < count; i++) {
        recorder->memory.events[(range.first + i) & (capacity - 1)] = read[i];
    }
    free(read);
    return err;
}

/* ---- Texts. ---------------------------------------------------------------------------------- */

static enum sim_store_err
reserve(struct sim_store *store, int64_t number, struct sim_record_memory *memory)
{
    struct report_ask ask = report_ask(store,
            "SELECT count(*), coalesce(sum(length(CAST(text AS BLOB)) + 1), 0) FROM texts"
            " WHERE run = ?");
    report_put_int(&ask, number);
    int64_t texts = report_row(&ask) ? report_int(&ask, 0) : 0;
    int64_t bytes = texts > 0 ? report_int(&ask, 1) : 0;
    enum sim_store_err err = report_done(&ask);
    memory->texts_capacity = texts < UINT32_MAX / 2 ? (uint32_t)texts : 0;
    memory->bytes_capacity = bytes < UINT32_MAX / 2 ? (uint32_t)bytes + 1 : 1;
    memory->texts = sim_heap_new(memory->texts_capacity, sizeof(*memory->texts));
    memory->bytes = sim_heap_new(memory->bytes_capacity, 1);
    return err;
}

static enum sim_text_kind
kind_of(const char *what)
{
    return strcmp(what, "actor") == 0    ? SIM_TEXT_ACTOR
           : strcmp(what, "object") == 0 ? SIM_TEXT_OBJECT
           : strcmp(what, "waiter") == 0 ? SIM_TEXT_WAITER
                                         : SIM_TEXT_EVENT;
}

/* Texts are unique by the key of the table: sim_record_text would search for each. */
static void
keep_text(struct sim_recorder *recorder, struct report_ask *ask)
{
    struct sim_record_memory *memory = &recorder->memory;
    size_t length = 0;
    const char *text = report_blob(ask, 2, &length);
    if (recorder->texts == memory->texts_capacity ||
            length >= memory->bytes_capacity - recorder->bytes) {
        recorder->texts_lost = true;
        return;
    }
    memory->texts[recorder->texts++] = (struct sim_text){
            .key = (uint64_t)report_int(ask, 1),
            .kind = kind_of(report_text(ask, 0)),
            .length = (uint32_t)length,
            .offset = recorder->bytes,
    };
    if (length > 0) {
        memcpy(memory->bytes + recorder->bytes, text, length);
    }
    memory->bytes[recorder->bytes + length] = '\0';
    recorder->bytes += (uint32_t)length + 1;
}

static enum sim_store_err
load_texts(struct sim_store *store, int64_t number, struct sim_recorder *recorder)
{
    enum sim_store_err err = reserve(store, number, &recorder->memory);
    if (err != SIM_STORE_OK) {
        return err;
    }
    struct report_ask ask = report_ask(store, "SELECT what, which, CAST(text AS BLOB) FROM "
                                              "texts WHERE run = ? ORDER BY what, which");
    report_put_int(&ask, number);
    while (report_row(&ask)) {
        keep_text(recorder, &ask);
    }
    return report_done(&ask);
}

/* ---- Both. ----------------------------------------------------------------------------------- */

enum sim_store_err
report_recorder_load(struct sim_store *store, int64_t number, struct sim_recorder *ret_recorder)
{
    *ret_recorder = (struct sim_recorder){.over = UINT64_MAX};
    enum sim_store_err err = load_events(store, number, ret_recorder);
    return err != SIM_STORE_OK ? err : load_texts(store, number, ret_recorder);
}

void
report_recorder_free(struct sim_recorder *recorder)
{
    free(recorder->memory.events);
    free(recorder->memory.texts);
    free(recorder->memory.bytes);
    *recorder = (struct sim_recorder){.over = UINT64_MAX};
}
