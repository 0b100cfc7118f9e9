/*
 * store_test.c -- the trace database: what goes in comes out, and each way to refuse.
 *
 * Every error is made with a real file: cut, overwritten, another application's,
 * newer, held by another process, on a full disk (a limit on the size of files is
 * one for this process), not writable (as a user who may not). SQLite is called
 * here directly only to play the others: another program, a damaged file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/trace/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/trace/site.h"

#define WAIT_MS 200u

/* ---- A folder for each test, and short words. ------------------------------------------------ */

static char folder[] = "/tmp/store_test.XXXXXX";
static char path[128];
static char message[SIM_STORE_MESSAGE_MAX];

static void
remove_folder(void)
{
    static const char *const names[] = {"", "-wal", "-shm", "-journal", "-lock"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[160];
        (void)snprintf(name, sizeof(name), "%s%s", path, names[i]);
        (void)unlink(name);
    }
    (void)rmdir(path);
    (void)rmdir(folder);
}

/* Registered first, so that it runs for the test's process only, also when the test fails. */
static void
make_folder(void)
{
    EXPECT(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/trace.db", folder);
    EXPECT_EQ(atexit(remove_folder), 0);
}

static struct sim_store *
open_store(enum sim_store_mode mode)
{
    struct sim_store *store = NULL;
    enum sim_store_err err = sim_store_open(path, mode, WAIT_MS, message, sizeof(message), &store);
    ck_assert_msg(err == SIM_STORE_OK, "%s", message);
    return store;
}

static struct sim_store *
new_store(void)
{
    make_folder();
    return open_store(SIM_STORE_WRITE);
}

/* Opening must be refused with `err`, and say so in one line that names the file. */
static void
expect_refused(enum sim_store_mode mode, enum sim_store_err err)
{
    struct sim_store *store = NULL;
    message[0] = '\0';
    enum sim_store_err got = sim_store_open(path, mode, WAIT_MS, message, sizeof(message), &store);
    ck_assert_msg(got == err, "%s, expected %s: %s", sim_store_err_name(got),
            sim_store_err_name(err), message);
    EXPECT(store == NULL);
    EXPECT(strstr(message, path) == message);
    EXPECT(strstr(message, sim_store_err_text(err)) != NULL);
    EXPECT(strchr(message, '\n') == NULL);
}

#define MUST(call) \
    do { \
        enum sim_store_err must__err = (call); \
        ck_assert_msg(must__err == SIM_STORE_OK, "%s: %s", #call, sim_store_message(store)); \
    } while (0)

static void
write_file(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    EXPECT(file != NULL);
    EXPECT_EQ(fwrite(text, 1, length, file), length);
    EXPECT_EQ(fclose(file), 0);
}

static off_t
file_size(void)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* Another program's SQLite. */
static void
other_program(const char *sql)
{
    sqlite3 *db = NULL;
    EXPECT_EQ(sqlite3_open(path, &db), SQLITE_OK);
    char *error = NULL;
    int rc = sqlite3_exec(db, sql, NULL, NULL, &error);
    ck_assert_msg(rc == SQLITE_OK, "%s", error != NULL ? error : "?");
    (void)sqlite3_close(db);
}

/* The first value of the first row, as another program reads it. */
static int64_t
ask(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    EXPECT_EQ(sqlite3_open(path, &db), SQLITE_OK);
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    ck_assert_msg(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return value;
}

/* The same as text; static. */
static const char *
ask_text(const char *sql)
{
    static char text[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    EXPECT_EQ(sqlite3_open(path, &db), SQLITE_OK);
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    ck_assert_msg(rc == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    EXPECT_EQ(sqlite3_step(stmt), SQLITE_ROW);
    const char *found = (const char *)sqlite3_column_text(stmt, 0);
    (void)snprintf(text, sizeof(text), "%s", found != NULL ? found : "(null)");
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return text;
}

static int64_t
begin_sweep(struct sim_store *store)
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

/* ---- Opening. -------------------------------------------------------------------------------- */

/*
 * Goal: a first `run` needs no preparation, and what it makes is known as ours.
 * Method: a path whose folder is missing; then the numbers that stock tools read.
 */
TEST(store_new_path_makes_folder_and_schema)
{
    make_folder();
    EXPECT_EQ(rmdir(folder), 0);
    struct sim_store *store = open_store(SIM_STORE_WRITE);
    EXPECT_STR(sim_store_path(store), path);
    sim_store_close(&store);
    EXPECT(store == NULL);
    EXPECT_EQ(ask("PRAGMA application_id"), 0x72776b31);
    EXPECT_EQ(ask("PRAGMA user_version"), 1);
    EXPECT_STR(ask_text("PRAGMA journal_mode"), "wal");
    EXPECT_STR(ask_text("SELECT name FROM verdicts WHERE verdict = 1"), "lost-wakeup");
    EXPECT_EQ(ask("SELECT count(*) FROM oracles"), SIM_ORACLES);
    EXPECT_EQ(ask("SELECT count(*) FROM pragma_table_list"
                  " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
                  " AND NOT strict"),
            0);
}

/* Words that a later build of the same version has learned are added to an old file. */
TEST(store_missing_words_are_added_on_open)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    other_program("DELETE FROM event_kinds WHERE name = 'fire'");
    store = open_store(SIM_STORE_WRITE);
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT count(*) FROM event_kinds WHERE name = 'fire'"), 1);
}

TEST(store_reading_a_missing_file_is_refused_and_makes_none)
{
    make_folder();
    expect_refused(SIM_STORE_READ, SIM_STORE_MISSING);
    EXPECT_EQ(access(path, F_OK), -1);
}

TEST(store_empty_file_is_missing_to_readers_and_taken_by_writers)
{
    make_folder();
    write_file("", 0);
    expect_refused(SIM_STORE_READ, SIM_STORE_MISSING);
    struct sim_store *store = open_store(SIM_STORE_WRITE);
    sim_store_close(&store);
    EXPECT_EQ(ask("PRAGMA user_version"), 1);
}

TEST(store_missing_parent_of_folder_is_refused)
{
    make_folder();
    (void)snprintf(path, sizeof(path), "%s/no/such/trace.db", folder);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_MISSING);
}

TEST(store_text_file_is_not_ours_and_left_alone)
{
    make_folder();
    char text[3000];
    memset(text, 'x', sizeof(text));
    write_file(text, sizeof(text));
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    EXPECT_EQ(file_size(), sizeof(text));
    FILE *file = fopen(path, "rb");
    char again[sizeof(text)];
    EXPECT_EQ(fread(again, 1, sizeof(again), file), sizeof(again));
    (void)fclose(file);
    EXPECT_EQ(memcmp(text, again, sizeof(text)), 0);
}

/* With and without a number of its own; its mode and its tables stay. */
TEST(store_database_of_another_application_is_not_ours)
{
    make_folder();
    other_program("CREATE TABLE notes (text); INSERT INTO notes VALUES ('keep me')");
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    other_program("PRAGMA application_id = 12345");
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    EXPECT_STR(ask_text("PRAGMA journal_mode"), "delete");
    EXPECT_STR(ask_text("SELECT text FROM notes"), "keep me");
    EXPECT_EQ(ask("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST(store_folder_or_device_is_not_ours)
{
    make_folder();
    EXPECT_EQ(mkdir(path, 0700), 0);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    EXPECT_EQ(rmdir(path), 0);
    (void)snprintf(path, sizeof(path), "/dev/null");
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    (void)snprintf(path, sizeof(path), "%s/trace.db", folder);
}

TEST(store_of_a_newer_version_is_refused_and_unchanged)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    other_program("PRAGMA user_version = 99");
    expect_refused(SIM_STORE_WRITE, SIM_STORE_NEWER);
    EXPECT(strstr(message, "99") != NULL);
    expect_refused(SIM_STORE_READ, SIM_STORE_NEWER);
    EXPECT_EQ(ask("PRAGMA user_version"), 99);
}

TEST(store_cut_file_is_corrupt)
{
    struct sim_store *store = new_store();
    (void)begin_sweep(store);
    sim_store_close(&store);
    EXPECT_EQ(truncate(path, file_size() / 2), 0);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
    expect_refused(SIM_STORE_READ, SIM_STORE_CORRUPT);
}

TEST(store_overwritten_pages_are_corrupt)
{
    struct sim_store *store = new_store();
    (void)begin_sweep(store);
    sim_store_close(&store);
    char noise[4096];
    memset(noise, 0x5a, sizeof(noise));
    int fd = open(path, O_WRONLY);
    EXPECT_EQ(pwrite(fd, noise, sizeof(noise), 2 * (off_t)sizeof(noise)), sizeof(noise));
    EXPECT_EQ(close(fd), 0);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
    expect_refused(SIM_STORE_READ, SIM_STORE_CORRUPT);
}

TEST(store_without_one_of_its_tables_is_corrupt)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    other_program("DROP TABLE remembered");
    expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
}

/* Root may write everything, so the test becomes somebody who may not. */
static bool
become_nobody(void)
{
    return geteuid() != 0 ||
           (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

TEST(store_file_without_permission_to_write_is_read_only)
{
    struct sim_store *store = new_store();
    (void)begin_sweep(store);
    sim_store_close(&store);
    EXPECT_EQ(chmod(path, 0444), 0);
    EXPECT_EQ(chmod(folder, 0555), 0);
    EXPECT(become_nobody());
    expect_refused(SIM_STORE_WRITE, SIM_STORE_READ_ONLY);
    /* Reading goes, although not even the files beside it can be made. */
    store = open_store(SIM_STORE_READ);
    const struct sim_sweep sweep = {.scenario = "s", .strategy = "random", .options = "{}"};
    int64_t id = 0;
    EXPECT_EQ(sim_store_sweep_begin(store, &sweep, &id), SIM_STORE_READ_ONLY);
    sim_store_close(&store);
}

TEST(store_folder_without_permission_to_write_is_read_only)
{
    make_folder();
    EXPECT_EQ(chmod(folder, 0555), 0);
    EXPECT(become_nobody());
    expect_refused(SIM_STORE_WRITE, SIM_STORE_READ_ONLY);
    EXPECT_EQ(access(path, F_OK), -1);
}

/* ---- A full disk. ---------------------------------------------------------------------------- */

static void
limit_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#define BATCH 500u

static void
fill_rows(struct sim_run_row *rows, uint64_t first)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        rows[i] = (struct sim_run_row){.number = first + i,
                .seed = first + i,
                .steps = 5,
                .actor = UINT32_MAX,
                .news = SIM_NEWS_ASKED};
    }
}

TEST(store_no_room_at_open_is_full)
{
    make_folder();
    limit_files(4096);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_FULL);
    limit_files(RLIM_INFINITY);
    struct sim_store *store = open_store(SIM_STORE_WRITE);
    sim_store_close(&store);
}

/* What was committed before is there, whole; what was refused is not, in no part. */
TEST(store_no_room_in_a_sweep_is_full_and_loses_one_batch)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    limit_files(1 << 20);
    struct sim_run_row rows[BATCH];
    enum sim_store_err err = SIM_STORE_OK;
    uint64_t batches = 0;
    for (; err == SIM_STORE_OK && batches < 1000; batches++) {
        fill_rows(rows, batches * BATCH);
        err = sim_store_runs(store, sweep, rows, BATCH, NULL, 0);
    }
    EXPECT_EQ(err, SIM_STORE_FULL);
    EXPECT(batches > 2);
    EXPECT(strstr(sim_store_message(store), path) != NULL);
    limit_files(RLIM_INFINITY);
    sim_store_close(&store);
    EXPECT_STR(ask_text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(ask("SELECT count(*) FROM runs"), (batches - 1) * BATCH);
}

/* ---- Other processes. ------------------------------------------------------------------------ */

/* A process that does `hold`, says so, and stays until it is killed. */
static pid_t
fork_holder(void (*hold)(void))
{
    int said[2];
    EXPECT_EQ(pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        hold();
        if (write(said[1], "x", 1) == 1) {
            for (;;) {
                (void)pause();
            }
        }
        _exit(1);
    }
    EXPECT(pid > 0);
    char byte;
    EXPECT_EQ(read(said[0], &byte, 1), 1);
    return pid;
}

static void
end_holder(pid_t pid)
{
    EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(waitpid(pid, NULL, 0), pid);
}

static void
hold_as_writer(void)
{
    (void)open_store(SIM_STORE_WRITE);
}

static void
hold_as_sqlite(void)
{
    sqlite3 *db = NULL;
    (void)sqlite3_open(path, &db);
    (void)sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM seeds", NULL, NULL, NULL);
}

static void
expect_held_by(pid_t pid)
{
    char words[64];
    (void)snprintf(words, sizeof(words), "process %ld", (long)pid);
    ck_assert_msg(strstr(message, words) != NULL, "no %s in: %s", words, message);
}

/* A writer keeps others out for its whole life, readers not; when it dies the next may. */
TEST(store_second_writer_is_told_who_holds_it)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_as_writer);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_HELD);
    expect_held_by(holder);
    store = open_store(SIM_STORE_READ);
    sim_store_close(&store);
    end_holder(holder);
    store = open_store(SIM_STORE_WRITE);
    sim_store_close(&store);
    /* Nothing is left beside it. */
    EXPECT_EQ(unlink(path), 0);
    EXPECT_EQ(rmdir(folder), 0);
}

/* We hold it: a writer in another process must be told so. */
static void
expect_refused_elsewhere(void)
{
    pid_t other = fork();
    if (other == 0) {
        struct sim_store *second = NULL;
        enum sim_store_err err =
                sim_store_open(path, SIM_STORE_WRITE, WAIT_MS, message, sizeof(message), &second);
        _exit(err == SIM_STORE_HELD ? 0 : 1);
    }
    int status = 1;
    EXPECT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
}

static void
hold_for_a_while(void)
{
    if (fork() == 0) {
        struct sim_store *store = open_store(SIM_STORE_WRITE);
        (void)usleep(100 * 1000);
        sim_store_close(&store);
        _exit(0);
    }
    (void)usleep(30 * 1000);
}

/* The holder removes its lock's file: who waits must not be content with the removed one. */
TEST(store_waiting_writer_goes_on_when_the_holder_closes)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_for_a_while);
    char second_message[SIM_STORE_MESSAGE_MAX];
    enum sim_store_err err = sim_store_open(
            path, SIM_STORE_WRITE, 5000, second_message, sizeof(second_message), &store);
    EXPECT_EQ(err, SIM_STORE_OK);
    expect_refused_elsewhere();
    end_holder(holder);
    sim_store_close(&store);
}

TEST(store_held_by_another_program_names_it)
{
    struct sim_store *store = new_store();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_as_sqlite);
    expect_refused(SIM_STORE_WRITE, SIM_STORE_HELD);
    expect_held_by(holder);
    end_holder(holder);
}

/* The lock appears between two batches; afterwards the store goes on. */
TEST(store_held_in_a_sweep_is_told_and_goes_on)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    pid_t holder = fork_holder(hold_as_sqlite);
    struct sim_run_row rows[BATCH];
    fill_rows(rows, 0);
    EXPECT_EQ(sim_store_runs(store, sweep, rows, BATCH, NULL, 0), SIM_STORE_HELD);
    (void)snprintf(message, sizeof(message), "%s", sim_store_message(store));
    expect_held_by(holder);
    end_holder(holder);
    MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
    /* Asking who held it must not have cost our own locks. */
    expect_refused_elsewhere();
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT count(*) FROM runs"), BATCH);
}

/* Writes batches for ever, each told on standard output after its commit. */
static void
write_for_ever(int said)
{
    struct sim_store *store = open_store(SIM_STORE_WRITE);
    int64_t sweep = begin_sweep(store);
    static struct sim_run_row rows[BATCH];
    for (uint64_t batch = 0;; batch++) {
        fill_rows(rows, batch * BATCH);
        MUST(sim_store_batch_begin(store));
        MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
        const struct sim_sweep_totals totals = {
                .runs = (batch + 1) * BATCH, .verdicts = {(batch + 1) * BATCH}};
        MUST(sim_store_sweep_update(store, sweep, &totals));
        MUST(sim_store_batch_commit(store));
        if (write(said, "x", 1) != 1) {
            _exit(1);
        }
    }
}

/*
 * Goal: a killed rewake leaves a database that opens and holds all but the last batch.
 * Method: a writer is killed wherever it is after 20 batches; rows and totals must agree.
 */
TEST(store_killed_writer_leaves_whole_batches)
{
    make_folder();
    int said[2];
    EXPECT_EQ(pipe(said), 0);
    pid_t writer = fork();
    if (writer == 0) {
        write_for_ever(said[1]);
    }
    int64_t told = 0;
    char byte;
    for (; told < 20; told++) {
        EXPECT_EQ(read(said[0], &byte, 1), 1);
    }
    end_holder(writer);
    (void)close(said[1]);
    while (read(said[0], &byte, 1) == 1) {
        told++;
    }
    struct sim_store *store = open_store(SIM_STORE_WRITE);
    sim_store_close(&store);
    int64_t rows = ask("SELECT count(*) FROM runs");
    EXPECT_EQ(rows % BATCH, 0);
    EXPECT(rows >= told * BATCH);
    EXPECT(rows <= (told + 1) * BATCH);
    EXPECT_EQ(ask("SELECT runs FROM sweeps"), rows);
    EXPECT_STR(ask_text("PRAGMA integrity_check"), "ok");
}

/* ---- Sweeps and rows. ------------------------------------------------------------------------ */

TEST(store_sweep_totals_replace_each_other)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    struct sim_sweep_totals totals = {.runs = 10,
            .steps = 100,
            .sim_ns = 1000,
            .digest = UINT64_C(0xfedcba9876543210),
            .elapsed_ms = 3};
    totals.verdicts[SIM_VERDICT_PASS] = 9;
    totals.verdicts[SIM_VERDICT_LEAK] = 1;
    MUST(sim_store_sweep_update(store, sweep, &totals));
    totals.runs = 21;
    totals.verdicts[SIM_VERDICT_LEAK] = 12;
    totals.complete = true;
    MUST(sim_store_sweep_update(store, sweep, &totals));
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT sum(runs) FROM sweep_verdicts"), 21);
    EXPECT_EQ(ask("SELECT failed FROM sweep_summary"), 12);
    EXPECT_STR(ask_text("SELECT digest FROM sweep_summary"), "fedcba9876543210");
    EXPECT_STR(ask_text("SELECT sweep_summary.complete || library || seed_first FROM sweep_summary"
                        " JOIN sweeps USING (sweep)"),
            "yes./mine.so7");
}

TEST(store_seeds_that_go_on_are_one_range)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    MUST(sim_store_sweep_seeds(store, sweep, 0, 99, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 100, 149, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 200, 299, 1));
    MUST(sim_store_sweep_seeds(store, sweep, 1000, 1006, 2));
    MUST(sim_store_sweep_seeds(store, sweep, 1008, 1010, 2));
    sim_store_close(&store);
    EXPECT_STR(ask_text("SELECT group_concat(first || '-' || last || '/' || stride, ' ')"
                        " FROM (SELECT * FROM seeds ORDER BY first)"),
            "0-149/1 200-299/1 1000-1010/2");
}

TEST(store_rows_come_back_as_they_were)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    const uint8_t tapes[] = {1, 2, 3, 4, 5};
    const struct sim_run_row rows[] = {
            {.number = 3,
                    .seed = INT64_MAX,
                    .digest = UINT64_MAX,
                    .steps = 11,
                    .sim_ns = 12,
                    .decisions = 13,
                    .events = 14,
                    .fail_step = 15,
                    .owed_step = 16,
                    .deviations = 17,
                    .actor = 0,
                    .object = UINT32_MAX,
                    .site = 19,
                    .tape_offset = 2,
                    .tape_length = 3,
                    .fresh = 20,
                    .verdict = SIM_VERDICT_LEAK,
                    .oracle = SIM_ORACLE_BALANCE,
                    .news = SIM_NEWS_FAILED},
            {.number = 4, .actor = UINT32_MAX, .fresh = 2, .news = SIM_NEWS_COVERAGE},
    };
    MUST(sim_store_runs(store, sweep, rows, 2, tapes, sizeof(tapes)));
    MUST(sim_store_runs(store, sweep, rows, 0, NULL, 0));
    struct sim_found_run found;
    MUST(sim_store_find_run(store, 1, &found));
    EXPECT(found.seed == INT64_MAX);
    EXPECT(found.digest == UINT64_MAX);
    EXPECT_STR(found.scenario, "mine/ping");
    EXPECT_STR(found.options, "{\"step_ns\":50}");
    EXPECT(found.token == NULL);
    EXPECT_EQ(found.tape_size, 3);
    EXPECT_EQ(memcmp(found.tape, tapes + 2, 3), 0);
    EXPECT_EQ(found.verdict, SIM_VERDICT_LEAK);
    EXPECT_EQ(found.oracle, SIM_ORACLE_BALANCE);
    EXPECT_EQ(found.site, 19);
    sim_found_run_clear(&found);
    EXPECT_EQ(sim_store_find_run(store, 3, &found), SIM_STORE_UNKNOWN);
    sim_store_close(&store);
    EXPECT_STR(ask_text("SELECT printf('%d %d %d %d %d %d %d %d %d %d', steps, sim_ns, decisions,"
                        " events, fail_step, owed_step, deviations, actor, object, fresh)"
                        " FROM runs WHERE run = 1"),
            "11 12 13 14 15 16 17 0 4294967295 20");
    EXPECT_EQ(
            ask("SELECT actor IS NULL AND tape IS NULL AND number = 4 FROM runs WHERE run = 2"), 1);
    EXPECT_STR(ask_text("SELECT group_concat(runs_so_far || ':' || covered, ' ')"
                        " FROM coverage_growth"),
            "4:20 5:22");
}

TEST(store_dropped_batch_never_happened)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    struct sim_run_row rows[BATCH];
    fill_rows(rows, 0);
    MUST(sim_store_batch_begin(store));
    MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
    sim_store_batch_drop(store);
    sim_store_batch_drop(store);
    EXPECT_EQ(ask("SELECT count(*) FROM runs"), 0);
    /* One that was not committed ends with the store. */
    MUST(sim_store_batch_begin(store));
    MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT count(*) FROM runs"), 0);
}

/* A call that fails gives its batch up: nothing of it is committed by accident. */
TEST(store_failed_call_gives_its_batch_up)
{
    struct sim_store *store = new_store();
    int64_t sweep = begin_sweep(store);
    struct sim_run_row rows[BATCH];
    fill_rows(rows, 0);
    struct sim_recorder recorder = {0};
    MUST(sim_store_batch_begin(store));
    MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
    EXPECT_EQ(sim_store_refill(store, 999999, &recorder), SIM_STORE_UNKNOWN);
    EXPECT_EQ(sim_store_runs(store, sweep, rows, BATCH, NULL, 0), SIM_STORE_UNKNOWN);
    EXPECT_EQ(sim_store_batch_commit(store), SIM_STORE_UNKNOWN);
    MUST(sim_store_runs(store, sweep, rows, BATCH, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT count(*) FROM runs"), BATCH);
}

/* ---- A run with its events. ------------------------------------------------------------------ */

#define RING 256u

static struct sim_event ring[RING];
static uint64_t hashes[8];
static struct sim_text texts[16];
static char text_bytes[512];

static struct sim_recorder
new_recorder(void)
{
    struct sim_recorder recorder = {.memory = {.events = ring,
                                            .events_capacity = RING,
                                            .hashes = hashes,
                                            .hashes_capacity = 8,
                                            .texts = texts,
                                            .texts_capacity = 16,
                                            .bytes = text_bytes,
                                            .bytes_capacity = sizeof(text_bytes)}};
    sim_recorder_begin(&recorder, true, true);
    return recorder;
}

static void
say(struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key, const char *text)
{
    sim_record_text(recorder, kind, key, text, strlen(text));
}

/* Every field at its limit somewhere, and no two events alike. */
static struct sim_event
odd_event(uint32_t i)
{
    return (struct sim_event){
            .step = i % 3 == 0 ? UINT32_MAX : i,
            .cause = i % 3 == 1 ? UINT32_MAX : i + 1,
            .object = i % 5 == 0 ? UINT32_MAX : i + 2,
            .site = i % 5 == 1 ? UINT32_MAX : i + 3,
            .await = i % 7 == 0 ? UINT32_MAX : i + 4,
            .actor = i % 7 == 1 ? UINT16_MAX : (uint16_t)(i + 5),
            .kind = i % 2 == 0 ? UINT8_MAX : (uint8_t)i,
            .flags = i % 4 == 0 ? UINT8_MAX : (uint8_t)(i + 6),
            .argument = i % 2 == 0 ? UINT64_MAX - i : i,
    };
}

static int64_t
store_run(struct sim_store *store, const struct sim_recorder *recorder)
{
    const struct sim_outcome outcome = {.seed = 42,
            .digest = 0x1234,
            .steps = 9,
            .events = 5,
            .verdict = SIM_VERDICT_LOST_WAKEUP,
            .oracle = SIM_ORACLE_REWAKE,
            .actor = 2,
            .fail_step = 9,
            .owed_step = 5,
            .actor_name = "reader",
            .message = "reader sleeps for ever"};
    const uint8_t tape[] = {9, 8, 7};
    const struct sim_full_run run = {.sweep = begin_sweep(store),
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

/* More events than the ring holds: the last ones are stored, under their own numbers. */
TEST(store_events_of_a_wrapped_ring_come_back)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    for (uint32_t i = 0; i < RING + 100; i++) {
        const struct sim_event event = odd_event(i);
        sim_record(&recorder, &event);
    }
    (void)sim_recorder_end(&recorder, 0);
    int64_t run = store_run(store, &recorder);
    struct sim_event events[RING];
    uint32_t count = 0;
    MUST(sim_store_read_events(store, run, 0, events, RING, &count));
    EXPECT_EQ(count, RING);
    for (uint32_t i = 0; i < RING; i++) {
        const struct sim_event event = odd_event(100 + i);
        EXPECT_EQ(memcmp(&events[i], &event, sizeof(event)), 0);
    }
    MUST(sim_store_read_events(store, run, 300, events, 2, &count));
    EXPECT_EQ(count, 2);
    EXPECT(events[0].argument == odd_event(300).argument);
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT min(n) FROM events WHERE run = 1"), 100);
    EXPECT_EQ(ask("SELECT max(n) FROM events"), RING + 99);
    /* The view takes the words apart as C does. */
    const struct sim_event event = odd_event(211);
    char expected[128];
    (void)snprintf(expected, sizeof(expected), "%u %u %u %u %u %u %u %u %lld", event.step,
            event.cause, event.actor, event.kind, event.object, event.site, event.await,
            event.flags, (long long)event.argument);
    EXPECT_STR(ask_text("SELECT printf('%d %d %d %d %d %d %d %d %d', step, cause, actor, kind,"
                        " object, site, await, flags, argument) FROM events WHERE n = 211"),
            expected);
}

TEST(store_full_run_is_found_with_all_that_is_known)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    for (uint32_t i = 0; i < 130; i++) {
        const struct sim_event event = odd_event(i);
        sim_record(&recorder, &event);
    }
    say(&recorder, SIM_TEXT_ACTOR, 2, "reader");
    say(&recorder, SIM_TEXT_EVENT, 129, "caf\xc3\xa9 \"log\"");
    (void)sim_recorder_end(&recorder, 0);
    int64_t run = store_run(store, &recorder);
    struct sim_found_run found;
    MUST(sim_store_find_run(store, run, &found));
    EXPECT_STR(found.token, "rw1:mine/ping:42:abc");
    EXPECT_STR(found.library, "./mine.so");
    EXPECT_STR(found.options, "{\"n\":1}");
    EXPECT_STR(found.message, "reader sleeps for ever");
    EXPECT_EQ(found.events_stored, 130);
    EXPECT_EQ(found.tape_size, 3);
    EXPECT_EQ(found.hashes_count, 2);
    EXPECT(found.hashes[0] == hashes[0] && found.hashes[1] == hashes[1]);
    sim_found_run_clear(&found);
    sim_store_close(&store);
    EXPECT_STR(ask_text("SELECT scenario || ' ' || verdict || ' ' || oracle || ' ' || actor || ' '"
                        " || in_fifo_order || ' ' || digest FROM failures"),
            "mine/ping lost-wakeup rewake reader yes 0000000000001234");
    EXPECT_STR(ask_text("SELECT text FROM trace WHERE n = 129"), "caf\xc3\xa9 \"log\"");
    EXPECT_STR(ask_text("SELECT name FROM actors WHERE actor = 2"), "reader");
}

/* Another run's rows stand before and after; they must stay. */
TEST(store_refill_replaces_events_of_its_run_only)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    const struct sim_event event = odd_event(1);
    sim_record(&recorder, &event);
    int64_t before = store_run(store, &recorder);
    int64_t run = store_run(store, &recorder);
    int64_t after = store_run(store, &recorder);
    for (uint32_t i = 0; i < 10; i++) {
        sim_record(&recorder, &event);
    }
    say(&recorder, SIM_TEXT_ACTOR, 1, "new");
    MUST(sim_store_refill(store, run, &recorder));
    MUST(sim_store_refill(store, run, &recorder));
    struct sim_event events[RING];
    uint32_t count = 0;
    MUST(sim_store_read_events(store, run, 0, events, RING, &count));
    EXPECT_EQ(count, 11);
    MUST(sim_store_read_events(store, before, 0, events, RING, &count));
    EXPECT_EQ(count, 1);
    MUST(sim_store_read_events(store, after, 0, events, RING, &count));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(sim_store_refill(store, 77, &recorder), SIM_STORE_UNKNOWN);
    EXPECT(strstr(sim_store_message(store), "run:77") != NULL);
    sim_store_close(&store);
    EXPECT_EQ(ask("SELECT count(*) FROM event_words"), 13);
}

/* A run that was only a row gets its events when somebody replays it. */
TEST(store_refill_of_a_bare_row_makes_its_details)
{
    struct sim_store *store = new_store();
    const struct sim_run_row row = {.seed = 5, .news = SIM_NEWS_ASKED};
    MUST(sim_store_runs(store, begin_sweep(store), &row, 1, NULL, 0));
    struct sim_recorder recorder = new_recorder();
    const struct sim_event event = odd_event(1);
    sim_record(&recorder, &event);
    MUST(sim_store_refill(store, 1, &recorder));
    struct sim_found_run found;
    MUST(sim_store_find_run(store, 1, &found));
    EXPECT_EQ(found.events_stored, 1);
    EXPECT_STR(found.options, "{\"step_ns\":50}");
    sim_found_run_clear(&found);
    sim_store_close(&store);
}

/* The recorder of a worker that died may say anything. */
TEST(store_texts_beyond_their_memory_are_left_out)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    say(&recorder, SIM_TEXT_ACTOR, 1, "whole");
    say(&recorder, SIM_TEXT_ACTOR, 2, "broken");
    say(&recorder, SIM_TEXT_ACTOR, 3, "far");
    texts[1].length = UINT32_MAX;
    texts[2].offset = sizeof(text_bytes) + 1;
    recorder.texts = 1000;
    recorder.hashes = 1000;
    memset(texts + 3, 0xff, sizeof(texts) - 3 * sizeof(texts[0]));
    (void)store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(ask_text("SELECT group_concat(text) FROM texts"), "whole");
}

TEST(store_sites_are_written_with_their_places)
{
    sim_sites_init();
    const struct rt_site *here = RT_HERE;
    struct sim_store *store = new_store();
    (void)begin_sweep(store);
    sim_store_close(&store);
    char sql[128];
    char place[128];
    (void)snprintf(sql, sizeof(sql), "SELECT place FROM places WHERE site = %u", here->id);
    (void)snprintf(place, sizeof(place), "store_test.c:%u %s", here->line, __func__);
    EXPECT_STR(ask_text(sql), place);
}

/* ---- Views over a hand-made trace. ----------------------------------------------------------- */

#define READER SIM_OBJECT(RT_OBJECT_TASK, 0, 0)
#define WRITER SIM_OBJECT(RT_OBJECT_TASK, 0, 1)
#define REPLY SIM_OBJECT(RT_OBJECT_SLOT, 2, 0)
#define OTHER SIM_OBJECT(RT_OBJECT_SLOT, 2, 1)

static void
happen(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t kind, uint32_t object,
        uint64_t argument)
{
    const struct sim_event event = {.step = step,
            .object = object,
            .actor = actor,
            .kind = (uint8_t)kind,
            .argument = argument};
    sim_record(recorder, &event);
}

static void
poll_of(struct sim_recorder *recorder, uint32_t step, uint16_t actor, uint32_t task, uint32_t cause)
{
    happen(recorder, step, actor, SIM_EVENT_STEP, 0, (uint64_t)step * 100);
    const struct sim_event event = {
            .step = step, .cause = cause, .object = task, .actor = actor, .kind = RT_PROBE_POLL};
    sim_record(recorder, &event);
}

/*
 * The reader (actor 2) waits twice for its reply; the first wait is fired by the writer (actor 3),
 * the second one erased. A place that it shares with the writer is fought for.
 */
static void
tell_story(struct sim_recorder *recorder)
{
    say(recorder, SIM_TEXT_ACTOR, 2, "reader");
    say(recorder, SIM_TEXT_ACTOR, 3, "writer");
    say(recorder, SIM_TEXT_OBJECT, READER, "reader");
    say(recorder, SIM_TEXT_OBJECT, REPLY, "the reply");
    happen(recorder, 0, 2, SIM_EVENT_ACTOR, READER, UINT64_C(1) << 32 | 77);
    poll_of(recorder, 1, 2, READER, 0);
    happen(recorder, 1, 2, RT_PROBE_STORE, REPLY, READER);
    happen(recorder, 1, 2, RT_PROBE_STORE, OTHER, READER);
    happen(recorder, 1, 2, RT_PROBE_POLLED, READER, 0);
    poll_of(recorder, 2, 3, WRITER, 0);
    happen(recorder, 2, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(recorder, 2, 3, RT_PROBE_WAKE, READER, 0);
    happen(recorder, 2, 3, RT_PROBE_REPLACE, OTHER, READER);
    happen(recorder, 2, 3, RT_PROBE_STORE, OTHER, WRITER);
    happen(recorder, 2, 3, RT_PROBE_POLLED, WRITER, 0);
    happen(recorder, 3, 1, RT_PROBE_WAKE, READER, 1);
    poll_of(recorder, 4, 2, READER, 2);
    happen(recorder, 4, 2, RT_PROBE_CLONE, READER, READER);
    happen(recorder, 4, 2, RT_PROBE_STORE, REPLY, READER);
    happen(recorder, 4, 2, RT_PROBE_POLLED, READER, 0);
    poll_of(recorder, 5, 3, WRITER, 0);
    happen(recorder, 5, 3, RT_PROBE_ERASE, REPLY, READER);
    happen(recorder, 5, 3, RT_PROBE_DROP, READER, READER);
    happen(recorder, 5, 3, RT_PROBE_POLLED, WRITER, 1);
    happen(recorder, 5, 3, RT_PROBE_ERASE, OTHER, WRITER);
}

static void
store_story(void)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    tell_story(&recorder);
    (void)store_run(store, &recorder);
    sim_store_close(&store);
}

#define LEDGER(task) \
    "SELECT group_concat(wait || ' ' || coalesce(object, '-') || ' ' || opened || '-' ||" \
    " coalesce(closed, '') || ' ' || how || ' ' || coalesce(closed_by, '-'), ', ')" \
    " FROM (SELECT * FROM wake_ledger WHERE run = 1 AND task = '" task "' ORDER BY opened_n)"

TEST(store_wake_ledger_tells_the_end_of_each_wait)
{
    store_story();
    EXPECT_STR(ask_text(LEDGER("reader")), "1 the reply 1-2 fired writer,"
                                           " 2 slot 2.1 1-2 replaced writer,"
                                           " 3 - 4-5 dropped writer,"
                                           " 4 the reply 4-5 erased writer");
    EXPECT_STR(ask_text(LEDGER("task 0.1")), "1 slot 2.1 2-5 ended writer");
}

/* Ends whose stores the ring has lost must not be taken for the ends of others. */
TEST(store_wake_ledger_leaves_ends_without_beginning_out)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    happen(&recorder, 7, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 8, 3, RT_PROBE_ERASE, REPLY, READER);
    happen(&recorder, 9, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 9, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 10, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 10, 3, RT_PROBE_WAKE, READER, 0);
    (void)store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(ask_text(LEDGER("task 0.0")), "1 slot 2.0 9-10 fired actor 3, 2 slot 2.0 9- open -");
}

/* A wake just after a fire is the fire's own; another one is a clone's. */
TEST(store_wake_ledger_gives_each_wake_to_one_waker)
{
    struct sim_store *store = new_store();
    struct sim_recorder recorder = new_recorder();
    happen(&recorder, 1, 2, RT_PROBE_CLONE, READER, READER);
    happen(&recorder, 1, 2, RT_PROBE_STORE, REPLY, READER);
    happen(&recorder, 2, 3, RT_PROBE_FIRE, REPLY, READER);
    happen(&recorder, 2, 3, RT_PROBE_WAKE, READER, 0);
    happen(&recorder, 3, 4, RT_PROBE_WAKE, READER, 1);
    (void)store_run(store, &recorder);
    sim_store_close(&store);
    EXPECT_STR(ask_text(LEDGER("task 0.0")), "1 - 1-3 fired actor 4, 2 slot 2.0 1-2 fired actor 3");
}

TEST(store_lost_wakeups_name_the_last_wait)
{
    store_story();
    EXPECT_STR(ask_text("SELECT actor || ': ' || waits_for || ' since ' || waits_since || ', ' ||"
                        " its_waker || ' at ' || closed_step || ' by ' || closed_by ||"
                        " ', owed at ' || owed_step FROM lost_wakeups WHERE run = 1"),
            "reader: the reply since 4, erased at 5 by writer, owed at 5");
}

/* Most failures are only rows: they are listed too. */
TEST(store_lost_wakeups_list_runs_without_events)
{
    struct sim_store *store = new_store();
    const struct sim_run_row row = {.seed = 5,
            .verdict = SIM_VERDICT_LOST_WAKEUP,
            .oracle = SIM_ORACLE_REWAKE,
            .actor = 2,
            .fail_step = 8,
            .news = SIM_NEWS_FAILED};
    MUST(sim_store_runs(store, begin_sweep(store), &row, 1, NULL, 0));
    sim_store_close(&store);
    EXPECT_EQ(
            ask("SELECT count(*) FROM lost_wakeups WHERE fail_step = 8 AND its_waker IS NULL"), 1);
    EXPECT_EQ(ask("SELECT count(*) FROM failures WHERE verdict = 'lost-wakeup'"), 1);
}

TEST(store_wake_edges_and_latency_go_from_wake_to_poll)
{
    store_story();
    EXPECT_EQ(ask("SELECT count(*) FROM wake_edges"), 1);
    EXPECT_STR(ask_text("SELECT wake_step || '>' || poll_step || ' ' || waker_actor || '>' ||"
                        " polled_actor FROM wake_edges"),
            "2>4 3>2");
    EXPECT_EQ(ask("SELECT count(*) FROM poll_latency"), 1);
    EXPECT_STR(ask_text("SELECT woken_step || ' ' || polled_step || ' ' || latency_steps || ' ' ||"
                        " latency_ns FROM poll_latency"),
            "2 4 2 200");
}

TEST(store_words_of_the_trace_need_no_table_of_numbers)
{
    store_story();
    EXPECT_STR(ask_text("SELECT group_concat(actor || ' ' || kind || ' ' || coalesce(object, '-'))"
                        " FROM trace WHERE run = 1 AND step = 2 AND kind IN ('fire', 'replace')"),
            "writer fire the reply,writer replace slot 2.1");
    EXPECT_STR(ask_text("SELECT name || ' ' || kind || ' ' || id FROM actors WHERE actor = 2"),
            "reader task 77");
    EXPECT_EQ(ask("SELECT time_ns FROM steps WHERE run = 1 AND step = 4"), 400);
    EXPECT_STR(ask_text("SELECT name || kind || creator FROM objects WHERE object >> 28 = 2"
                        " ORDER BY object"),
            "the replyslot2");
}

/* ---- Remembered failures. -------------------------------------------------------------------- */

static bool
list_token(const struct sim_remembered *failure, void *argument)
{
    char *list = argument;
    size_t used = strlen(list);
    (void)snprintf(list + used, 128 - used, "%s%s ", failure->token,
            failure->library != NULL ? failure->library : "");
    return true;
}

static bool
list_one(const struct sim_remembered *failure, void *argument)
{
    (void)list_token(failure, argument);
    return false;
}

TEST(store_remembers_each_way_to_fail_once_newest_first)
{
    struct sim_store *store = new_store();
    struct sim_remembered failure = {.scenario = "a", .token = "t1", .verdict = 1, .oracle = 2};
    MUST(sim_store_remember(store, &failure));
    failure.site = 9;
    failure.token = "t2";
    failure.library = "@lib";
    MUST(sim_store_remember(store, &failure));
    failure.site = 0;
    failure.token = "t3";
    failure.library = NULL;
    MUST(sim_store_remember(store, &failure));
    char list[128] = "";
    MUST(sim_store_remembered(store, list_token, list));
    EXPECT_STR(list, "t3 t2@lib ");
    list[0] = '\0';
    MUST(sim_store_remembered(store, list_one, list));
    EXPECT_STR(list, "t3 ");
    MUST(sim_store_forget(store, &failure));
    MUST(sim_store_forget(store, &failure));
    list[0] = '\0';
    MUST(sim_store_remembered(store, list_token, list));
    EXPECT_STR(list, "t2@lib ");
    sim_store_close(&store);
}

/* ---- Questions. ------------------------------------------------------------------------------ */

struct lines {
    char text[4096];
    int count;
    int wanted;
};

static bool
take_line(const char *text, size_t length, void *argument)
{
    struct lines *lines = argument;
    EXPECT_EQ(strlen(text), length);
    size_t used = strlen(lines->text);
    (void)snprintf(lines->text + used, sizeof(lines->text) - used, "%s\n", text);
    lines->count++;
    return lines->wanted == 0 || lines->count < lines->wanted;
}

static const char *
query(struct sim_store *store, const char *sql, enum sim_store_form form, struct lines *lines)
{
    *lines = (struct lines){0};
    MUST(sim_store_query(store, sql, form, take_line, lines));
    return lines->text;
}

TEST(store_query_answers_a_table_in_line)
{
    struct sim_store *store = new_store();
    struct lines lines;
    EXPECT_STR(query(store,
                       "SELECT 1 AS n, 'caf\xc3\xa9' AS name, x'0aff' AS b"
                       " UNION ALL SELECT 22, 'two' || char(10) || 'lines', NULL",
                       SIM_STORE_TABLE, &lines),
            "n   name       b\n"
            "--  ---------  ----\n"
            "1   caf\xc3\xa9       0aff\n"
            "22  two lines  \n");
    sim_store_close(&store);
}

/* Beyond the rows that decide the widths, rows go through, and one line is as good as the next. */
TEST(store_query_answers_every_row_of_a_long_table)
{
    struct sim_store *store = new_store();
    struct lines *lines = calloc(1, sizeof(*lines));
    MUST(sim_store_query(store,
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000)"
            " SELECT x FROM c",
            SIM_STORE_TABLE, take_line, lines));
    EXPECT_EQ(lines->count, 2002);
    lines->count = 0;
    lines->wanted = 3;
    MUST(sim_store_query(store, "SELECT * FROM verdicts", SIM_STORE_TABLE, take_line, lines));
    EXPECT_EQ(lines->count, 3);
    free(lines);
    sim_store_close(&store);
}

TEST(store_query_answers_json_that_loses_nothing)
{
    struct sim_store *store = new_store();
    struct lines lines;
    EXPECT_STR(query(store,
                       "SELECT 7 AS seed, 5 AS n, 9007199254740993 AS big, 0.5 AS half, NULL AS x,"
                       " 'a\"b\\' || char(9) || 'c' AS t, CAST(x'ff41' AS TEXT) AS bad",
                       SIM_STORE_JSON, &lines),
            "{\"seed\":\"7\",\"n\":5,\"big\":\"9007199254740993\",\"half\":0.5,\"x\":null,"
            "\"t\":\"a\\\"b\\\\\\u0009c\",\"bad\":\"\\ufffdA\"}\n");
    EXPECT_STR(query(store, "SELECT * FROM runs", SIM_STORE_JSON, &lines), "");
    EXPECT_EQ(lines.count, 0);
    sim_store_close(&store);
}

static void
expect_no_answer(struct sim_store *store, const char *sql)
{
    struct lines lines = {0};
    enum sim_store_err err = sim_store_query(store, sql, SIM_STORE_TABLE, take_line, &lines);
    ck_assert_msg(err == SIM_STORE_QUERY, "%s: %s", sql, sim_store_err_name(err));
    EXPECT_EQ(lines.count, 0);
}

TEST(store_query_refuses_everything_but_one_reading_statement)
{
    struct sim_store *store = new_store();
    (void)begin_sweep(store);
    expect_no_answer(store, "DELETE FROM sweeps");
    expect_no_answer(store, "DELETE FROM sweeps RETURNING sweep");
    expect_no_answer(store, "CREATE TABLE x (y)");
    expect_no_answer(store, "SELECT 1; DELETE FROM sweeps");
    expect_no_answer(store, "SELECT 1; SELECT 2");
    expect_no_answer(store, "ATTACH '/tmp/store_test_other.db' AS other");
    expect_no_answer(store, "VACUUM INTO '/tmp/store_test_other.db'");
    expect_no_answer(store, "BEGIN");
    expect_no_answer(store, "PRAGMA user_version = 5");
    expect_no_answer(store, "PRAGMA locking_mode = EXCLUSIVE");
    expect_no_answer(store, "PRAGMA journal_mode = DELETE");
    expect_no_answer(store, "SELEC 1");
    expect_no_answer(store, "SELECT * FROM nowhere");
    expect_no_answer(store, " -- nothing");
    EXPECT(access("/tmp/store_test_other.db", F_OK) != 0);
    struct lines lines;
    EXPECT_STR(
            query(store, "SELECT count(*) AS c FROM sweeps; -- done\n ;", SIM_STORE_JSON, &lines),
            "{\"c\":1}\n");
    EXPECT_STR(query(store, "SELECT count(*) AS c FROM pragma_table_info('runs')", SIM_STORE_JSON,
                       &lines),
            "{\"c\":20}\n");
    sim_store_close(&store);
    store = open_store(SIM_STORE_READ);
    expect_no_answer(store, "DELETE FROM sweeps");
    EXPECT_STR(query(store, "SELECT scenario FROM sweeps", SIM_STORE_JSON, &lines),
            "{\"scenario\":\"mine/ping\"}\n");
    sim_store_close(&store);
}

/* ---- Words. ---------------------------------------------------------------------------------- */

TEST(store_errors_have_names_and_advice)
{
    for (uint32_t i = 0; i < SIM_STORE_ERRORS; i++) {
        EXPECT(strcmp(sim_store_err_name((enum sim_store_err)i), "?") != 0);
        EXPECT(strlen(sim_store_err_text((enum sim_store_err)i)) > 8);
    }
    EXPECT_STR(sim_store_err_name(SIM_STORE_HELD), "held");
    EXPECT_STR(sim_store_err_name(SIM_STORE_ERRORS), "?");
}
