/*
 * store_box.c -- a database in a separate folder for each test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char box_folder[] = "/tmp/store_test.XXXXXX";
char box_path[128];
char box_message[SIM_STORE_MESSAGE_MAX];

static void
remove_folder(void)
{
    static const char *const names[] = {"", "-wal", "-shm", "-journal", "-lock"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[160];
        (void)snprintf(name, sizeof(name), "%s%s", box_path, names[i]);
        (void)unlink(name);
    }
    (void)rmdir(box_path);
    (void)rmdir(box_folder);
}

/* Registered first, so that it runs for the test's process only, also when the test fails. */
void
box_make_folder(void)
{
    EXPECT(mkdtemp(box_folder) != NULL);
    (void)snprintf(box_path, sizeof(box_path), "%s/trace.db", box_folder);
    EXPECT_EQ(atexit(remove_folder), 0);
}

struct sim_store *
box_open(enum sim_store_mode mode)
{
    struct sim_store *store = NULL;
    enum sim_store_err err =
            sim_store_open(box_path, mode, BOX_WAIT_MS, box_message, sizeof(box_message), &store);
    ck_assert_msg(err == SIM_STORE_OK, "%s", box_message);
    return store;
}

struct sim_store *
box_new(void)
{
    box_make_folder();
    return box_open(SIM_STORE_WRITE);
}

void
box_expect_refused(enum sim_store_mode mode, enum sim_store_err err)
{
    struct sim_store *store = NULL;
    box_message[0] = '\0';
    enum sim_store_err got =
            sim_store_open(box_path, mode, BOX_WAIT_MS, box_message, sizeof(box_message), &store);
    ck_assert_msg(got == err, "%s, expected %s: %s", sim_store_err_name(got),
            sim_store_err_name(err), box_message);
    EXPECT(store == NULL);
    EXPECT(strstr(box_message, box_path) == box_message);
    EXPECT(strstr(box_message, sim_store_err_text(err)) != NULL);
    EXPECT(strchr(box_message, '\n') == NULL);
}

void
box_write_file(const char *text, size_t length)
{
    FILE *file = fopen(box_path, "wb");
    EXPECT(file != NULL);
    EXPECT_EQ(fwrite(text, 1, length, file), length);
    EXPECT_EQ(fclose(file), 0);
}

off_t
box_file_size(void)
{
    struct stat status;
    return stat(box_path, &status) == 0 ? status.st_size : -1;
}

void
box_other_program(const char *sql)
{
    sqlite3 *db = NULL;
    EXPECT_EQ(sqlite3_open(box_path, &db), SQLITE_OK);
    char *error = NULL;
    int rc = sqlite3_exec(db, sql, NULL, NULL, &error);
    ck_assert_msg(rc == SQLITE_OK, "%s", error != NULL ? error : "?");
    (void)sqlite3_close(db);
}

int64_t
box_ask(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    EXPECT_EQ(sqlite3_open(box_path, &db), SQLITE_OK);
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    ck_assert_msg(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return value;
}

const char *
box_ask_text(const char *sql)
{
    static char text[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    EXPECT_EQ(sqlite3_open(box_path, &db), SQLITE_OK);
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    ck_assert_msg(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    const char *found = (const char *)sqlite3_column_text(stmt, 0);
    (void)snprintf(text, sizeof(text), "%s", found != NULL ? found : "(null)");
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return text;
}

int64_t
box_sweep(struct sim_store *store)
{
    const struct sim_sweep sweep = {.scenario = "mine/ping",
            .library = "./mine.so",
            .strategy = "random",
            .options = "{\"step_ns\":50}",
            .build = "test",
            .seed_first = 7,
            .started_ms = 1700000000000};
    int64_t id = 0;
    MUST(sim_store_sweep_begin(store, &sweep, &id));
    EXPECT(id > 0);
    return id;
}

void
box_fill_rows(struct sim_run_row *rows, uint64_t first)
{
    for (uint32_t i = 0; i < BOX_BATCH; i++) {
        rows[i] = (struct sim_run_row){.number = first + i,
                .seed = first + i,
                .steps = 5,
                .actor = UINT32_MAX,
                .news = SIM_NEWS_ASKED};
    }
}

static struct sim_event ring[BOX_RING];
uint64_t box_hashes[8];
struct sim_text box_texts[BOX_TEXTS];
char text_bytes[BOX_BYTES];

struct sim_recorder
box_recorder(void)
{
    struct sim_recorder recorder = {.memory = {.events = ring,
                                            .events_capacity = BOX_RING,
                                            .hashes = box_hashes,
                                            .hashes_capacity = 8,
                                            .texts = box_texts,
                                            .texts_capacity = BOX_TEXTS,
                                            .bytes = text_bytes,
                                            .bytes_capacity = sizeof(text_bytes)}};
    sim_recorder_begin(&recorder, true, true);
    return recorder;
}

void
box_say(struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key, const char *text)
{
    sim_record_text(recorder, kind, key, text, strlen(text));
}

int64_t
box_store_run(struct sim_store *store, const struct sim_recorder *recorder)
{
    const struct sim_outcome outcome = {.seed = 42,
            .digest = 0x1234,
            .steps = 9,
            .events = 5,
            .verdict = SIM_VERDICT_LOST_WAKEUP,
            .oracle = SIM_ORACLE_REWAKE,
            .actor = 2,
            .fail_step = 9,
            .missing_wake_step = 5,
            .actor_name = "reader",
            .message = "reader sleeps forever"};
    const uint8_t tape[] = {9, 8, 7};
    const struct sim_full_run run = {.sweep = box_sweep(store),
            .outcome = &outcome,
            .token = "rw1:mine/ping:42:abc",
            .options = "{\"n\":1}",
            .tape = tape,
            .tape_size = sizeof(tape),
            .recorder = recorder,
            .news = SIM_NEWS_FAILED,
            .fifo = SIM_FIFO_YES};
    int64_t id = 0;
    MUST(sim_store_failure(store, &run, &id));
    return id;
}
