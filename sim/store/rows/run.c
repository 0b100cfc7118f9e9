/*
 * run.c -- one run with all its details: events, hashes, texts, stack; and its smallest form.
 *
 * The recorder may belong to a worker that has died, so its counts are trusted only up to the size
 * of its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/core/code/frames.h"
#include "sim/store/internal.h"

/* stacks.sql, made into a C array by the build. */
extern const char sim_stacks_sql[];

/* ---- Events. --------------------------------------------------------------------------------- */

/* The four words of an event; schema.sql takes them apart again. */
const struct sim__table sim__event_words = {
        .sql = "INSERT INTO event_words (%s) SELECT %s FROM given",
        .row_size = sizeof(struct sim_event),
        .columns = {SIM__AS("step_cause", SIM__PAIR, struct sim_event, step),
                SIM__AS("object_site", SIM__PAIR, struct sim_event, object),
                SIM__AS("await_actor_kind", SIM__PACKED, struct sim_event, await),
                SIM__COLUMN(struct sim_event, argument)},
};

/* The events in a recorder's ring, the oldest first. */
static void
insert_events(struct sim_store *store, const struct sim_recorder *recorder, uint64_t count)
{
    const struct sim__given given = {.table = &sim__event_words,
            .rows = recorder->memory.events,
            .count = count,
            .first = recorder->count - count,
            .mask = recorder->memory.events_capacity - 1};
    sim__store_give(store, &given, 0);
}

/* ---- Texts. ---------------------------------------------------------------------------------- */

struct text {
    const char *what;
    uint64_t which;
    const char *bytes;
    size_t length;
};

/* The first text of an event is the one that sim_recorder_text answers. */
static const struct sim__table texts_table = {
        .sql = "INSERT OR IGNORE INTO texts (run, %s) SELECT ?1, %s FROM given",
        .row_size = sizeof(struct text),
        .columns = {SIM__EACH(struct text, what, which),
                SIM__AS("text", SIM__TEXT_N, struct text, bytes)},
};

static const char *const text_kinds[] = {
        [SIM_TEXT_ACTOR] = "actor",
        [SIM_TEXT_OBJECT] = "object",
        [SIM_TEXT_EVENT] = "event",
        [SIM_TEXT_WAITER] = "waiter",
};

static bool
text_is_whole(const struct sim_record_memory *memory, const struct sim_text *text)
{
    return text->kind < sizeof(text_kinds) / sizeof(text_kinds[0]) &&
           text->offset <= memory->bytes_capacity &&
           text->length <= memory->bytes_capacity - text->offset;
}

static void
insert_texts(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    const struct sim_record_memory *memory = &recorder->memory;
    uint32_t capacity = memory->texts_capacity;
    uint32_t recorded = recorder->texts < capacity ? recorder->texts : capacity;
    struct text *rows = sim_heap_new(recorded, sizeof(*rows));
    uint32_t count = 0;
    for (uint32_t i = 0; i < recorded; i++) {
        const struct sim_text *text = &memory->texts[i];
        if (text_is_whole(memory, text)) {
            rows[count++] = (struct text){
                    text_kinds[text->kind], text->key, memory->bytes + text->offset, text->length};
        }
    }
    sim__store_insert(store, &texts_table, rows, count, run);
    free(rows);
}

/* ---- What was recorded of a run that has details. -------------------------------------------- */

struct recorded {
    uint8_t *hashes; /* Little endian in the file, whatever this machine is. */
    size_t hashes_size;
    int64_t first_id;
    uint64_t first_n;
    uint64_t stored;
};

static const struct sim__table recorded_table = {
        .sql = "UPDATE details SET (%s) = (SELECT %s FROM given) WHERE run = ?1",
        .row_size = sizeof(struct recorded),
        .columns = {SIM__AS("hashes", SIM__BYTES, struct recorded, hashes),
                SIM__EACH(struct recorded, first_id, first_n, stored)},
};

static uint8_t *
hashes_encode(const struct sim_recorder *recorder, size_t *ret_size)
{
    uint32_t capacity = recorder->memory.hashes_capacity;
    size_t size = 8 * (size_t)(recorder->hashes < capacity ? recorder->hashes : capacity);
    uint8_t *bytes = sim_heap_new(size, 1);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(recorder->memory.hashes[i / 8] >> (i % 8 * 8));
    }
    *ret_size = size;
    return bytes;
}

static void
insert_recorded(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    uint64_t capacity = recorder->memory.events_capacity;
    uint64_t count = recorder->count < capacity ? recorder->count : capacity;
    insert_events(store, recorder, count);
    struct recorded recorded = {
            /* The rows just written end with the last id, as there is no other writer. */
            .first_id = sqlite3_last_insert_rowid(store->db) - (int64_t)count + 1,
            .first_n = recorder->count - count,
            .stored = count,
    };
    insert_texts(store, run, recorder);
    recorded.hashes = hashes_encode(recorder, &recorded.hashes_size);
    sim__store_insert(store, &recorded_table, &recorded, 1, run);
    free(recorded.hashes);
}

/* ---- Details. -------------------------------------------------------------------------------- */

struct details {
    const char *token;
    const char *options;
    uint32_t fifo; /* UINT32_MAX: not asked. */
    struct sim_outcome outcome;
};

static const struct sim__table details_table = {
        .sql = "INSERT INTO details (run, %s) SELECT ?1, %s FROM given",
        .row_size = sizeof(struct details),
        .columns = {SIM__EACH(struct details, token, options, outcome.message, outcome.actor_name,
                            outcome.tasks, outcome.fail_ns, outcome.audit_step),
                SIM__NAMED("run_order", struct details, outcome.order),
                SIM__AS("fifo", SIM__OPTIONAL, struct details, fifo)},
};

void
sim__store_details(struct sim_store *store, int64_t number, const struct sim_full_run *run)
{
    const struct details details = {
            .token = run->token,
            .options = run->options,
            .fifo = run->fifo == SIM_FIFO_NOT_ASKED ? UINT32_MAX : run->fifo == SIM_FIFO_YES,
            .outcome = *run->outcome,
    };
    sim__store_insert(store, &details_table, &details, 1, number);
    if (run->recorder != NULL) {
        insert_recorded(store, number, run->recorder);
    }
}

static void
forget_recorded(struct sim_store *store, int64_t number)
{
    sim__store_run_int(store,
            "DELETE FROM event_words WHERE id >= (SELECT first_id FROM details WHERE run = ?1)"
            " AND id < (SELECT first_id + stored FROM details WHERE run = ?1)",
            number);
    sim__store_run_int(store, "DELETE FROM texts WHERE run = ?", number);
}

void
sim__store_forget_details(struct sim_store *store, int64_t number)
{
    forget_recorded(store, number);
    sim__store_run_int(store, "DELETE FROM details WHERE run = ?", number);
}

/* ---- Its stack. ------------------------------------------------------------------------------ */

static const struct sim__table stacks = {
        .name = "stacks",
        .make = sim_stacks_sql,
        .sql = "INSERT OR REPLACE INTO stacks (run, n, %s) SELECT ?1, rowid, %s FROM given",
        .row_size = sizeof(struct sim_frame),
        .columns = {SIM__EACH(struct sim_frame, function, file, line, times, module),
                SIM__NAMED("module_offset", struct sim_frame, offset)},
};

/* ---- A whole run. ---------------------------------------------------------------------------- */

struct sim_run_row
sim_run_row_of(const struct sim_outcome *outcome)
{
    return (struct sim_run_row){
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
            .verdict = outcome->verdict,
            .oracle = outcome->oracle,
    };
}

/* Searches from the end: it is among the last rows. */
static int64_t
find_row(struct sim_store *store, const struct sim_full_run *run)
{
    struct sim__statement statement = sim__store_prepare(
            store, "SELECT run FROM runs WHERE sweep = ? AND number = ? ORDER BY run DESC LIMIT 1");
    sim__put_int(&statement, run->sweep);
    sim__put_int(&statement, (int64_t)run->number);
    int64_t id = sim__store_answer(&statement, 0);
    if (store->err == SIM_STORE_OK && id == 0) {
        (void)sim__store_refuse(store, SIM_STORE_CORRUPT, "the row of a failure is missing");
    }
    return id;
}

/* Its number. */
static int64_t
put_row(struct sim_store *store, const struct sim_full_run *run)
{
    struct sim_run_row row = sim_run_row_of(run->outcome);
    row.number = run->number;
    row.tape_length = (uint32_t)run->tape_size;
    row.fresh = run->fresh;
    row.news = (uint8_t)run->news;
    if (run->has_row) {
        int64_t id = find_row(store, run);
        sim__store_replace_run(store, id, &row, run->tape, run->tape_size);
        return id;
    }
    sim__store_insert_runs(store, run->sweep, &row, 1, run->tape, run->tape_size);
    return sqlite3_last_insert_rowid(store->db);
}

enum sim_store_err
sim_store_failure(struct sim_store *store, const struct sim_full_run *run, int64_t *ret_run)
{
    const struct sim_frames *frames = run->frames;
    rt_assert(run->outcome != NULL && run->options != NULL);
    rt_assert(run->tape_size <= UINT32_MAX);
    rt_assert(frames == NULL || frames->count <= SIM_FRAMES_MAX);
    sim__store_begin(store);
    int64_t id = put_row(store, run);
    sim__store_details(store, id, run);
    if (frames != NULL) {
        sim__store_insert(store, &stacks, frames->all, frames->count, id);
    }
    enum sim_store_err err = sim__store_end(store);
    if (err == SIM_STORE_OK) {
        *ret_run = id;
    }
    return err;
}

/* ---- Refilling. ------------------------------------------------------------------------------ */

/* A run that was only a row gets its details here, with what the row knows. */
static void
make_details(struct sim_store *store, int64_t run)
{
    sim__store_run_int(store,
            "INSERT OR IGNORE INTO details (run, message, actor_name, options, tasks, run_order,"
            " fail_ns, audit_step) SELECT r.run, '', '', s.options, 0, 0, 0, 0"
            " FROM runs AS r JOIN sweeps AS s USING (sweep) WHERE r.run = ?",
            run);
}

void
sim__store_known(struct sim_store *store, int64_t run)
{
    bool known = sim__store_ask_int(store, "SELECT 1 FROM runs WHERE run = ?", run) != 0;
    if (store->err == SIM_STORE_OK && !known) {
        (void)sim__store_refuse(store, SIM_STORE_UNKNOWN, "run:%lld", (long long)run);
    }
}

enum sim_store_err
sim_store_refill(struct sim_store *store, int64_t run, const struct sim_recorder *recorder)
{
    rt_assert(recorder != NULL);
    sim__store_begin(store);
    sim__store_known(store, run);
    make_details(store, run);
    forget_recorded(store, run);
    insert_recorded(store, run, recorder);
    return sim__store_end(store);
}

/* ---- Its smallest form. ---------------------------------------------------------------------- */

_Static_assert(offsetof(struct sim_shrunk_row, tape_size) ==
                       offsetof(struct sim_shrunk_row, tape) + sizeof(void *),
        "a blob is a pointer and a size");

static const struct sim__table shrunk = {
        .name = "shrunk",
        .row_size = sizeof(struct sim_shrunk_row),
        .columns = {SIM__EACH(struct sim_shrunk_row, run, token, options, digest, steps, sim_ns,
                            deviations, preemptions),
                SIM__EACH(struct sim_shrunk_row, faults, actors, replays, stopped),
                SIM__AS("tape", SIM__BLOB, struct sim_shrunk_row, tape)},
};

enum sim_store_err
sim_store_shrunk(struct sim_store *store, const struct sim_shrunk_row *row)
{
    rt_assert(row->run > 0 && row->token != NULL && row->options != NULL && row->stopped != NULL);
    return sim__store_write(store, &shrunk, row, 1, 0);
}
