/*
 * store_open_test.c -- opening the trace database, and each way in which that is refused.
 *
 * Every error is made with a real file: cut, overwritten, another application's,
 * newer, on a full disk (a limit on the size of files is one for this process), not
 * writable (as a user who may not).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Goal: a first `run` needs no preparation, and what it makes is known as ours.
 * Method: a path whose folder is missing; then the numbers that stock tools read.
 */
TEST(store_new_path_makes_folder_and_schema)
{
    box_make_folder();
    EXPECT_EQ(rmdir(box_folder), 0);
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    EXPECT(store == NULL);
    EXPECT_EQ(box_ask("PRAGMA application_id"), 0x72776b31);
    EXPECT_EQ(box_ask("PRAGMA user_version"), 4);
    EXPECT_STR(box_ask_text("PRAGMA journal_mode"), "wal");
    EXPECT_STR(box_ask_text("SELECT name FROM verdicts WHERE verdict = 1"), "lost-wakeup");
    EXPECT_EQ(box_ask("SELECT count(*) FROM oracles"), SIM_ORACLES);
    EXPECT_EQ(box_ask("SELECT count(*) FROM pragma_table_list"
                      " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
                      " AND NOT strict"),
            0);
}

/* Words that a later build of the same version has learned are added to an old file. */
TEST(store_missing_words_are_added_on_open)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    box_other_program("DELETE FROM event_kinds WHERE name = 'fire'");
    store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM event_kinds WHERE name = 'fire'"), 1);
}

TEST(store_reading_a_missing_file_is_refused_and_makes_none)
{
    box_make_folder();
    box_expect_refused(SIM_STORE_READ, SIM_STORE_MISSING);
    EXPECT_EQ(access(box_path, F_OK), -1);
}

TEST(store_empty_file_is_missing_to_readers_and_taken_by_writers)
{
    box_make_folder();
    box_write_file("", 0);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_MISSING);
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    EXPECT_EQ(box_ask("PRAGMA user_version"), 4);
}

TEST(store_missing_parent_of_folder_is_refused)
{
    box_make_folder();
    (void)snprintf(box_path, sizeof(box_path), "%s/no/such/trace.db", box_folder);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_SYSTEM);
}

TEST(store_text_file_is_not_ours_and_left_alone)
{
    box_make_folder();
    char text[3000];
    memset(text, 'x', sizeof(text));
    box_write_file(text, sizeof(text));
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    EXPECT_EQ(box_file_size(), sizeof(text));
    FILE *file = fopen(box_path, "rb");
    char again[sizeof(text)];
    EXPECT_EQ(fread(again, 1, sizeof(again), file), sizeof(again));
    (void)fclose(file);
    EXPECT_EQ(memcmp(text, again, sizeof(text)), 0);
}

/* With and without an application id; its mode and its tables stay. */
TEST(store_database_of_another_application_is_not_ours)
{
    box_make_folder();
    box_other_program("CREATE TABLE notes (text); INSERT INTO notes VALUES ('keep me')");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    box_other_program("PRAGMA application_id = 12345");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    EXPECT_STR(box_ask_text("PRAGMA journal_mode"), "delete");
    EXPECT_STR(box_ask_text("SELECT text FROM notes"), "keep me");
    EXPECT_EQ(box_ask("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST(store_folder_or_device_is_not_ours)
{
    box_make_folder();
    EXPECT_EQ(mkdir(box_path, 0700), 0);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_NOT_OURS);
    EXPECT_EQ(rmdir(box_path), 0);
    (void)snprintf(box_path, sizeof(box_path), "/dev/null");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NOT_OURS);
    (void)snprintf(box_path, sizeof(box_path), "%s/trace.db", box_folder);
}

TEST(store_of_an_older_version_is_refused_and_unchanged)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    box_other_program("PRAGMA user_version = 1");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_OLDER);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_OLDER);
    EXPECT_EQ(box_ask("PRAGMA user_version"), 1);
}

TEST(store_of_a_newer_version_is_refused_and_unchanged)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    box_other_program("PRAGMA user_version = 99");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_NEWER);
    EXPECT(strstr(box_message, "99") != NULL);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_NEWER);
    EXPECT_EQ(box_ask("PRAGMA user_version"), 99);
}

TEST(store_cut_file_is_corrupt)
{
    struct sim_store *store = box_new();
    (void)box_sweep(store);
    sim_store_close(&store);
    EXPECT_EQ(truncate(box_path, box_file_size() / 2), 0);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_CORRUPT);
}

TEST(store_overwritten_pages_are_corrupt)
{
    struct sim_store *store = box_new();
    (void)box_sweep(store);
    sim_store_close(&store);
    char noise[4096];
    memset(noise, 0x5a, sizeof(noise));
    int fd = open(box_path, O_WRONLY);
    EXPECT_EQ(pwrite(fd, noise, sizeof(noise), 2 * (off_t)sizeof(noise)), sizeof(noise));
    EXPECT_EQ(close(fd), 0);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
    box_expect_refused(SIM_STORE_READ, SIM_STORE_CORRUPT);
}

TEST(store_without_one_of_its_tables_is_corrupt)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    box_other_program("DROP TABLE remembered");
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
}

/* Refused as CORRUPT by writers and readers, with a line that names the damage, and unchanged. */
static void
expect_damaged(const char *sql, const char *what)
{
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    box_other_program(sql);
    int64_t before = box_ask("SELECT total(length(sql)) FROM sqlite_schema");
    box_other_program("DELETE FROM event_kinds WHERE name = 'fire'");
    box_expect_refused(SIM_STORE_READ, SIM_STORE_CORRUPT);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_CORRUPT);
    ck_assert_msg(strstr(box_message, what) != NULL, "%s: %s", what, box_message);
    EXPECT_EQ(box_ask("SELECT total(length(sql)) FROM sqlite_schema"), before);
    EXPECT_EQ(box_ask("SELECT count(*) FROM event_kinds WHERE name = 'fire'"), 0);
    EXPECT_EQ(unlink(box_path), 0);
}

/*
 * Goal: nothing is written to a file that this build does not know how to fill.
 * Method: one thing is taken away or changed; the words that every writer adds stay missing.
 */
TEST(store_with_a_damaged_schema_is_corrupt_and_unchanged)
{
    box_make_folder();
    expect_damaged("DROP TABLE texts", "the table 'texts' is missing");
    expect_damaged("DROP VIEW failures", "the view 'failures' is missing");
    expect_damaged("DROP INDEX runs_failed", "the index 'runs_failed' is missing");
    expect_damaged("DROP TABLE seeds; CREATE TABLE seeds (sweep, first, last)",
            "the table 'seeds' has other columns");
    expect_damaged("DROP TABLE sweep_verdicts; CREATE TABLE sweep_verdicts (sweep INTEGER NOT NULL,"
                   " verdict TEXT NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY (sweep, verdict))"
                   " STRICT, WITHOUT ROWID",
            "the table 'sweep_verdicts' has other columns");
    expect_damaged("CREATE TABLE stacks (run INTEGER, n INTEGER)",
            "the table 'stacks' has other columns than this rewake makes");
    expect_damaged("DROP VIEW failures; CREATE VIEW failures AS SELECT 1 AS run",
            "the view 'failures' has other columns");
    expect_damaged("DROP VIEW failures; CREATE VIEW failures AS SELECT run FROM nowhere",
            "the view 'failures' has other columns");
    expect_damaged(
            "CREATE TABLE sweep_notes (note TEXT)", "the table 'sweep_notes' has other columns");
}

/* Comments are no part of it, and what is made when it is needed may be missing. */
TEST(store_with_other_words_in_its_schema_is_whole)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    box_other_program("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
                      " replace(sql, '-- what went wrong, one sentence', '-- in short')"
                      " WHERE name = 'details'; PRAGMA writable_schema = OFF");
    EXPECT_EQ(box_ask("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%-- in short%'"), 1);
    store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
}

/* What is written from then on would get nowhere. */
static void
expect_gone(const char *suffix, bool replaced)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    char path[160];
    (void)snprintf(path, sizeof(path), "%s%s", box_path, suffix);
    EXPECT_EQ(unlink(path), 0);
    if (replaced) {
        FILE *file = fopen(path, "wb");
        EXPECT(file != NULL && fclose(file) == 0);
    }
    const struct sim_sweep_totals totals = {.runs = 1, .verdicts = {1}};
    EXPECT_EQ(sim_store_sweep_update(store, sweep, &totals), SIM_STORE_GONE);
    EXPECT(strstr(sim_store_message(store),
                   replaced ? "is another file now" : "is not there any more") != NULL);
    sim_store_close(&store);
    EXPECT_EQ(access(path, F_OK) == 0, replaced);
}

TEST(store_deleted_in_a_sweep_is_gone)
{
    expect_gone("", false);
}

TEST(store_replaced_in_a_sweep_is_gone_and_the_other_is_left_alone)
{
    expect_gone("", true);
}

TEST(store_whose_wal_is_deleted_in_a_sweep_is_gone)
{
    expect_gone("-wal", false);
}

TEST(store_whose_wal_is_replaced_in_a_sweep_is_gone)
{
    expect_gone("-wal", true);
}

/* Root may write everything, so another user does this: in a separate process, as there is no way
 * back. */
static void
as_nobody(void (*act)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0) {
            EXPECT_EQ(setresgid(65534, 65534, 65534), 0);
            EXPECT_EQ(setresuid(65534, 65534, 65534), 0);
        }
        act();
        _exit(0);
    }
    int status = 1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
}

static void
expect_read_only(void)
{
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_READ_ONLY);
}

/* Reading goes, although not even the files beside it can be made. */
static void
read_but_not_write(void)
{
    expect_read_only();
    struct sim_store *store = box_open(SIM_STORE_READ);
    const struct sim_sweep sweep = {.scenario = "s", .strategy = "random", .options = "{}"};
    int64_t id = 0;
    EXPECT_EQ(sim_store_sweep_begin(store, &sweep, &id), SIM_STORE_READ_ONLY);
    sim_store_close(&store);
}

TEST(store_file_without_permission_to_write_is_read_only)
{
    struct sim_store *store = box_new();
    (void)box_sweep(store);
    sim_store_close(&store);
    EXPECT_EQ(chmod(box_path, 0444), 0);
    EXPECT_EQ(chmod(box_folder, 0555), 0);
    as_nobody(read_but_not_write);
    EXPECT_EQ(chmod(box_folder, 0755), 0);
}

TEST(store_folder_without_permission_to_write_is_read_only)
{
    box_make_folder();
    EXPECT_EQ(chmod(box_folder, 0555), 0);
    as_nobody(expect_read_only);
    EXPECT_EQ(chmod(box_folder, 0755), 0);
    EXPECT_EQ(access(box_path, F_OK), -1);
}

/* ---- A full disk. ---------------------------------------------------------------------------- */

static void
limit_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(store_no_room_at_open_is_full)
{
    box_make_folder();
    limit_files(4096);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_FULL);
    limit_files(RLIM_INFINITY);
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
}

/* What was committed before is there, whole; what was refused is not, in no part. */
TEST(store_no_room_in_a_sweep_is_full_and_loses_one_batch)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    limit_files(1 << 20);
    struct sim_run_row rows[BOX_BATCH];
    enum sim_store_err err = SIM_STORE_OK;
    uint64_t batches = 0;
    for (; err == SIM_STORE_OK && batches < 1000; batches++) {
        box_fill_rows(rows, batches * BOX_BATCH);
        err = sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0);
    }
    EXPECT_EQ(err, SIM_STORE_FULL);
    EXPECT(batches > 2);
    EXPECT(strstr(sim_store_message(store), box_path) != NULL);
    limit_files(RLIM_INFINITY);
    sim_store_close(&store);
    EXPECT_STR(box_ask_text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(box_ask("SELECT count(*) FROM runs"), (batches - 1) * BOX_BATCH);
}
