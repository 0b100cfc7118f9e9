/*
 * run.c -- one run with all its details: events, hashes, texts.
 *
 * The recorder may belong to a worker that has died, so its counts are trusted only up to the size
 * of its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/store/internal.h"

/* ---- Events. --------------------------------------------------------------------------------- */

static enum sim_store_err
insert_words(struct sim_store *store, const struct sim_recorder *recorder, uint64_t count)
{
    rt_assert(store->events.count == 0);
    store->events.recorder = recorder;
    store->events.count = count;
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT INTO event_words (step_cause, object_site, await_actor_kind, argument)"
            " SELECT * FROM ring_events");
    (void)sim__store_run(&statement);
    store->events.count = 0;
    return sim__store_done(&statement);
}

/* The rows just written end with the last id, as there is no other writer. */
static enum sim_store_err
update_range(struct sim_store *store, int64_t run, uint64_t first_n, uint64_t count)
{
    struct sim__statement statement = sim__store_prepare(
            store, "UPDATE details SET first_id = ?, first_n = ?, stored = ? WHERE run = ?");
    sim__put_int(&statement, sqlite3_last_insert_rowid(store->db) - (int64_t)count + 1);
    sim__put_bits(&statement, first_n);
    sim__put_bits(&statement, count);
    sim__put_int(&statement, run);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

static enum sim_store_err
insert_events(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    uint64_t capacity = recorder->memory.events_capacity;
    uint64_t count = recorder->count < capacity ? recorder->count : capacity;
    enum sim_store_err err = insert_words(store, recorder, count);
    return err != SIM_STORE_OK ? err : update_range(store, run, recorder->count - count, count);
}

static enum sim_store_err
delete_events(struct sim_store *store, int64_t run)
{
    return sim__store_run_int(store,
            "DELETE FROM event_words WHERE id >= (SELECT first_id FROM details WHERE run = ?1)"
            " AND id < (SELECT first_id + stored FROM details WHERE run = ?1)",
            run);
}

/* ---- Texts. ---------------------------------------------------------------------------------- */

static const char *
text_kind_name(uint32_t kind)
{
    switch (kind) {
    case SIM_TEXT_ACTOR:
        return "actor";
    case SIM_TEXT_OBJECT:
        return "object";
    case SIM_TEXT_EVENT:
        return "event";
    case SIM_TEXT_WAITER:
        return "waiter";
    default:
        return NULL;
    }
}

static bool
text_is_whole(const struct sim_record_memory *memory, const struct sim_text *text)
{
    return text_kind_name(text->kind) != NULL && text->offset <= memory->bytes_capacity &&
           text->length <= memory->bytes_capacity - text->offset;
}

static void
put_text(struct sim__statement *statement, int64_t run, const struct sim_record_memory *memory,
        const struct sim_text *text)
{
    sim__put_int(statement, run);
    sim__put_text(statement, text_kind_name(text->kind));
    sim__put_bits(statement, text->key);
    sim__put_text_n(statement, memory->bytes + text->offset, text->length);
    (void)sim__store_run(statement);
}

static enum sim_store_err
insert_texts(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    const struct sim_record_memory *memory = &recorder->memory;
    uint32_t count = recorder->texts;
    if (count > memory->texts_capacity) {
        count = memory->texts_capacity;
    }
    /* The first text of an event is the one that sim_recorder_text answers. */
    struct sim__statement statement =
            sim__store_prepare(store, "INSERT OR IGNORE INTO texts VALUES (?, ?, ?, ?)");
    for (uint32_t i = 0; i < count; i++) {
        if (text_is_whole(memory, &memory->texts[i])) {
            put_text(&statement, run, memory, &memory->texts[i]);
        }
    }
    return sim__store_done(&statement);
}

/* ---- Hashes: little endian in the file, whatever this machine is. ---------------------------- */

static void
hashes_encode(uint8_t *bytes, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count * 8; i++) {
        bytes[i] = (uint8_t)(hashes[i / 8] >> (i % 8 * 8));
    }
}

static void
hashes_decode(uint64_t *hashes, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hashes[i] = 0;
    }
    for (size_t i = 0; i < count * 8; i++) {
        hashes[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
    }
}

static enum sim_store_err
update_hashes(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    size_t count = recorder->hashes;
    if (count > recorder->memory.hashes_capacity) {
        count = recorder->memory.hashes_capacity;
    }
    uint8_t *bytes = malloc(count * 8 + 1);
    if (bytes == NULL) {
        return sim__store_sqlite(store, SQLITE_NOMEM);
    }
    hashes_encode(bytes, recorder->memory.hashes, count);
    struct sim__statement statement =
            sim__store_prepare(store, "UPDATE details SET hashes = ? WHERE run = ?");
    sim__put_blob(&statement, bytes, count * 8);
    sim__put_int(&statement, run);
    (void)sim__store_run(&statement);
    enum sim_store_err err = sim__store_done(&statement);
    free(bytes);
    return err;
}

/* ---- A whole run. ---------------------------------------------------------------------------- */

static enum sim_store_err
insert_recorded(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    enum sim_store_err err = insert_events(store, run, recorder);
    if (err == SIM_STORE_OK) {
        err = insert_texts(store, run, recorder);
    }
    return err != SIM_STORE_OK ? err : update_hashes(store, run, recorder);
}

static struct sim_run_row
row_of(const struct sim_full_run *run)
{
    const struct sim_outcome *outcome = run->outcome;
    return (struct sim_run_row){
            .number = run->number,
            .seed = outcome->seed,
            .digest = outcome->digest,
            .steps = outcome->steps,
            .sim_ns = outcome->sim_ns,
            .decisions = outcome->decisions,
            .events = outcome->events,
            .fail_step = outcome->fail_step,
            .missing_wake_step = outcome->missing_wake_step,
            .deviations = outcome->deviations,
            .actor = outcome->actor,
            .object = outcome->object,
            .site = outcome->site,
            .tape_length = (uint32_t)run->tape_size,
            .fresh = run->fresh,
            .verdict = outcome->verdict,
            .oracle = outcome->oracle,
            .news = (uint8_t)run->news,
    };
}

static void
put_fifo(struct sim__statement *statement, enum sim_store_fifo fifo)
{
    if (fifo == SIM_FIFO_NOT_ASKED) {
        sim__put_null(statement);
    } else {
        sim__put_int(statement, fifo == SIM_FIFO_YES);
    }
}

static enum sim_store_err
insert_details(struct sim_store *store, int64_t id, const struct sim_full_run *run)
{
    const struct sim_outcome *outcome = run->outcome;
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT INTO details (run, token, message, actor_name, options, tasks, run_order, fifo,"
            " fail_ns, audit_step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sim__put_int(&statement, id);
    sim__put_text(&statement, run->token);
    sim__put_text_n(
            &statement, outcome->message, strnlen(outcome->message, sizeof(outcome->message)));
    sim__put_text_n(&statement, outcome->actor_name,
            strnlen(outcome->actor_name, sizeof(outcome->actor_name)));
    sim__put_text(&statement, run->options);
    sim__put_int(&statement, outcome->tasks);
    sim__put_int(&statement, outcome->order);
    put_fifo(&statement, run->fifo);
    sim__put_bits(&statement, outcome->fail_ns);
    sim__put_bits(&statement, outcome->audit_step);
    (void)sim__store_run(&statement);
    return sim__store_done(&statement);
}

/* Searches from the end: it is among the last rows. */
static enum sim_store_err
find_row(struct sim_store *store, const struct sim_full_run *run, int64_t *ret_id)
{
    struct sim__statement statement = sim__store_prepare(
            store, "SELECT run FROM runs WHERE sweep = ? AND number = ? ORDER BY run DESC LIMIT 1");
    sim__put_int(&statement, run->sweep);
    sim__put_bits(&statement, run->number);
    bool found = sim__store_row(&statement);
    *ret_id = found ? sqlite3_column_int64(statement.stmt, 0) : 0;
    enum sim_store_err err = sim__store_done(&statement);
    return err == SIM_STORE_OK && !found
                   ? sim__store_refuse(store, SIM_STORE_CORRUPT, "the row of a failure is missing")
                   : err;
}

static enum sim_store_err
put_row(struct sim_store *store, const struct sim_full_run *run, int64_t *ret_id)
{
    struct sim_run_row row = row_of(run);
    if (run->has_row) {
        enum sim_store_err err = find_row(store, run, ret_id);
        return err != SIM_STORE_OK
                       ? err
                       : sim__store_replace_run(store, *ret_id, &row, run->tape, run->tape_size);
    }
    enum sim_store_err err =
            sim__store_insert_runs(store, run->sweep, &row, 1, run->tape, run->tape_size);
    *ret_id = sqlite3_last_insert_rowid(store->db);
    return err;
}

static enum sim_store_err
insert_full(struct sim_store *store, const struct sim_full_run *run, int64_t *ret_id)
{
    enum sim_store_err err = put_row(store, run, ret_id);
    if (err == SIM_STORE_OK) {
        err = insert_details(store, *ret_id, run);
    }
    if (err == SIM_STORE_OK && run->frames != NULL) {
        err = sim__store_stack(store, *ret_id, run->frames);
    }
    if (err == SIM_STORE_OK && run->recorder != NULL) {
        err = insert_recorded(store, *ret_id, run->recorder);
    }
    return err;
}

enum sim_store_err
sim_store_failure(struct sim_store *store, const struct sim_full_run *run, int64_t *ret_run)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(run->outcome != NULL && run->options != NULL);
    rt_assert(run->tape_size <= UINT32_MAX);
    int64_t id = 0;
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    err = insert_full(store, run, &id);
    err = sim__store_end(store, err);
    if (err == SIM_STORE_OK) {
        *ret_run = id;
    }
    return err;
}

/* ---- Details that belong to no row of `runs`. ------------------------------------------------ */

enum sim_store_err
sim__store_details(struct sim_store *store, int64_t number, const struct sim_full_run *run)
{
    enum sim_store_err err = insert_details(store, number, run);
    return err == SIM_STORE_OK ? insert_recorded(store, number, run->recorder) : err;
}

enum sim_store_err
sim__store_forget_details(struct sim_store *store, int64_t number)
{
    enum sim_store_err err = delete_events(store, number);
    if (err == SIM_STORE_OK) {
        err = sim__store_run_int(store, "DELETE FROM texts WHERE run = ?", number);
    }
    return err != SIM_STORE_OK
                   ? err
                   : sim__store_run_int(store, "DELETE FROM details WHERE run = ?", number);
}

/* ---- Refilling. ------------------------------------------------------------------------------ */

/* A run that was only a row gets its details here, with what the row knows. */
static enum sim_store_err
make_details(struct sim_store *store, int64_t run)
{
    return sim__store_run_int(store,
            "INSERT OR IGNORE INTO details (run, message, actor_name, options, tasks, run_order,"
            " fail_ns, audit_step) SELECT r.run, '', '', s.options, 0, 0, 0, 0"
            " FROM runs AS r JOIN sweeps AS s USING (sweep) WHERE r.run = ?",
            run);
}

enum sim_store_err
sim__store_known(struct sim_store *store, int64_t run)
{
    struct sim__statement statement = sim__store_prepare(store, "SELECT 1 FROM runs WHERE run = ?");
    sim__put_int(&statement, run);
    bool known = sim__store_row(&statement);
    enum sim_store_err err = sim__store_done(&statement);
    if (err == SIM_STORE_OK && !known) {
        err = sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
    return err;
}

static enum sim_store_err
replace_recorded(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    enum sim_store_err err = sim__store_known(store, run);
    if (err == SIM_STORE_OK) {
        err = make_details(store, run);
    }
    if (err == SIM_STORE_OK) {
        err = delete_events(store, run);
    }
    if (err == SIM_STORE_OK) {
        err = sim__store_run_int(store, "DELETE FROM texts WHERE run = ?", run);
    }
    return err != SIM_STORE_OK ? err : insert_recorded(store, run, recorder);
}

enum sim_store_err
sim_store_refill(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    rt_check(store, SIM__STORE_MAGIC);
    rt_assert(recorder != NULL);
    enum sim_store_err err = sim__store_begin(store);
    if (err != SIM_STORE_OK) {
        return err;
    }
    return sim__store_end(store, replace_recorded(store, run, recorder));
}

/* ---- Reading back. --------------------------------------------------------------------------- */

/* A blob on the heap; NULL with *ret_size 0 for none. */
static uint8_t *
column_bytes(struct sim__statement *statement, int column, size_t *ret_size)
{
    const void *bytes = sqlite3_column_blob(statement->stmt, column);
    size_t size = (size_t)sqlite3_column_bytes(statement->stmt, column);
    uint8_t *copy = bytes != NULL && size > 0 ? malloc(size) : NULL;
    *ret_size = copy != NULL ? size : 0;
    if (copy != NULL) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static uint64_t *
column_hashes(struct sim__statement *statement, int column, size_t *ret_count)
{
    size_t size = 0;
    uint8_t *bytes = column_bytes(statement, column, &size);
    size_t count = size / 8;
    uint64_t *hashes = count > 0 ? malloc(count * sizeof(*hashes)) : NULL;
    *ret_count = hashes != NULL ? count : 0;
    if (hashes != NULL) {
        hashes_decode(hashes, bytes, count);
    }
    free(bytes);
    return hashes;
}

#define FIND_SQL \
    "SELECT r.run, r.sweep, r.seed, r.digest, r.events, r.verdict, r.oracle, r.site," \
    " coalesce(d.stored, 0), s.scenario, s.library, s.strategy," \
    " coalesce(d.options, s.options), d.token, d.message, r.tape, d.hashes, h.token" \
    " FROM runs AS r JOIN sweeps AS s USING (sweep) LEFT JOIN details AS d USING (run)" \
    " LEFT JOIN shrunk AS h USING (run)" \
    " WHERE r.run = ?"

/* The columns of FIND_SQL, in their order. */
static struct sim_found_run
read_found(struct sim__statement *statement)
{
    sqlite3_stmt *stmt = statement->stmt;
    struct sim_found_run found = {
            .run = sqlite3_column_int64(stmt, 0),
            .sweep = sqlite3_column_int64(stmt, 1),
            .seed = (uint64_t)sqlite3_column_int64(stmt, 2),
            .digest = (uint64_t)sqlite3_column_int64(stmt, 3),
            .events = (uint64_t)sqlite3_column_int64(stmt, 4),
            .verdict = (uint32_t)sqlite3_column_int64(stmt, 5),
            .oracle = (uint32_t)sqlite3_column_int64(stmt, 6),
            .site = (uint32_t)sqlite3_column_int64(stmt, 7),
            .events_stored = (uint64_t)sqlite3_column_int64(stmt, 8),
            .scenario = sim__column_text(statement, 9),
            .library = sim__column_text(statement, 10),
            .strategy = sim__column_text(statement, 11),
            .options = sim__column_text(statement, 12),
            .token = sim__column_text(statement, 13),
            .message = sim__column_text(statement, 14),
            .shrunk_token = sim__column_text(statement, 17),
    };
    found.tape = column_bytes(statement, 15, &found.tape_size);
    found.hashes = column_hashes(statement, 16, &found.hashes_count);
    return found;
}

enum sim_store_err
sim_store_find_run(struct sim_store *store, int64_t run, struct sim_found_run *ret_found)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct sim__statement statement = sim__store_prepare(store, FIND_SQL);
    sim__put_int(&statement, run);
    bool known = sim__store_row(&statement);
    struct sim_found_run found = {0};
    if (known) {
        found = read_found(&statement);
    }
    enum sim_store_err err = sim__store_done(&statement);
    if (err == SIM_STORE_OK && !known) {
        return sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
    if (err == SIM_STORE_OK) {
        *ret_found = found;
    } else {
        sim_found_run_clear(&found);
    }
    return err;
}

void
sim_found_run_clear(struct sim_found_run *found)
{
    rt_assert(found != NULL);
    free(found->scenario);
    free(found->library);
    free(found->strategy);
    free(found->options);
    free(found->token);
    free(found->message);
    free(found->shrunk_token);
    free(found->tape);
    free(found->hashes);
    *found = (struct sim_found_run){0};
}

static struct sim_event
read_event(sqlite3_stmt *stmt)
{
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = (uint64_t)sqlite3_column_int64(stmt, i);
    }
    return sim__event_of_words(words);
}

enum sim_store_err
sim_store_read_events(struct sim_store *store, int64_t run, uint64_t first,
        struct sim_event *events, uint32_t capacity, uint32_t *ret_count)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT w.step_cause, w.object_site, w.await_actor_kind, w.argument"
            " FROM details AS d CROSS JOIN event_words AS w"
            " ON w.id >= d.first_id + max(0, ?2 - d.first_n) AND w.id < d.first_id + d.stored"
            " WHERE d.run = ?1 ORDER BY w.id LIMIT ?3");
    sim__put_int(&statement, run);
    sim__put_bits(&statement, first);
    sim__put_int(&statement, capacity);
    uint32_t count = 0;
    while (count < capacity && sim__store_row(&statement)) {
        events[count++] = read_event(statement.stmt);
    }
    enum sim_store_err err = sim__store_done(&statement);
    if (err == SIM_STORE_OK) {
        *ret_count = count;
    }
    return err;
}
