/*
 * store_held_test.c -- the trace database and other processes: held, waited for, killed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    (void)box_open(SIM_STORE_WRITE);
}

static void
hold_as_sqlite(void)
{
    sqlite3 *db = NULL;
    (void)sqlite3_open(box_path, &db);
    (void)sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM seeds", NULL, NULL, NULL);
}

static void
expect_held_by(pid_t pid)
{
    char words[64];
    (void)snprintf(words, sizeof(words), "process %ld", (long)pid);
    ck_assert_msg(strstr(box_message, words) != NULL, "no %s in: %s", words, box_message);
}

/* A writer keeps others out for its whole life, readers not; when it dies the next may. */
TEST(store_second_writer_is_told_who_holds_it)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_as_writer);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_HELD);
    expect_held_by(holder);
    store = box_open(SIM_STORE_READ);
    sim_store_close(&store);
    end_holder(holder);
    store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    /* Nothing is left beside it. */
    EXPECT_EQ(unlink(box_path), 0);
    EXPECT_EQ(rmdir(box_folder), 0);
}

/* This process holds it: a writer in another process must report that. */
static void
expect_refused_elsewhere(void)
{
    pid_t other = fork();
    if (other == 0) {
        struct sim_store *second = NULL;
        enum sim_store_err err = sim_store_open(
                box_path, SIM_STORE_WRITE, BOX_WAIT_MS, box_message, sizeof(box_message), &second);
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
        struct sim_store *store = box_open(SIM_STORE_WRITE);
        (void)usleep(100 * 1000);
        sim_store_close(&store);
        _exit(0);
    }
    (void)usleep(30 * 1000);
}

/* The holder removes its lock's file: a waiter must not lock the removed one. */
TEST(store_waiting_writer_goes_on_when_the_holder_closes)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_for_a_while);
    char second_message[SIM_STORE_MESSAGE_MAX];
    enum sim_store_err err = sim_store_open(
            box_path, SIM_STORE_WRITE, 5000, second_message, sizeof(second_message), &store);
    EXPECT_EQ(err, SIM_STORE_OK);
    expect_refused_elsewhere();
    end_holder(holder);
    sim_store_close(&store);
}

TEST(store_held_by_another_program_names_it)
{
    struct sim_store *store = box_new();
    sim_store_close(&store);
    pid_t holder = fork_holder(hold_as_sqlite);
    box_expect_refused(SIM_STORE_WRITE, SIM_STORE_HELD);
    expect_held_by(holder);
    end_holder(holder);
}

/* The lock appears between two batches; afterwards the store can be used again. */
TEST(store_held_in_a_sweep_is_told_and_goes_on)
{
    struct sim_store *store = box_new();
    int64_t sweep = box_sweep(store);
    pid_t holder = fork_holder(hold_as_sqlite);
    struct sim_run_row rows[BOX_BATCH];
    box_fill_rows(rows, 0);
    EXPECT_EQ(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0), SIM_STORE_HELD);
    (void)snprintf(box_message, sizeof(box_message), "%s", sim_store_message(store));
    expect_held_by(holder);
    end_holder(holder);
    MUST(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0));
    /* The search for the holder must not have dropped our locks. */
    expect_refused_elsewhere();
    sim_store_close(&store);
    EXPECT_EQ(box_ask("SELECT count(*) FROM runs"), BOX_BATCH);
}

/* Writes batches forever, and reports each on standard output after its commit. */
static void
write_for_ever(int said)
{
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    int64_t sweep = box_sweep(store);
    static struct sim_run_row rows[BOX_BATCH];
    for (uint64_t batch = 0;; batch++) {
        box_fill_rows(rows, batch * BOX_BATCH);
        MUST(sim_store_batch_begin(store));
        MUST(sim_store_runs(store, sweep, rows, BOX_BATCH, NULL, 0));
        const struct sim_sweep_totals totals = {
                .runs = (batch + 1) * BOX_BATCH, .verdicts = {(batch + 1) * BOX_BATCH}};
        MUST(sim_store_sweep_update(store, sweep, &totals));
        MUST(sim_store_batch_commit(store));
        if (write(said, "x", 1) != 1) {
            _exit(1);
        }
    }
}

/*
 * Goal: a killed rewake leaves a database that opens and has all but the last batch.
 * Method: a writer is killed wherever it is after 20 batches; rows and totals must agree.
 */
TEST(store_killed_writer_leaves_whole_batches)
{
    box_make_folder();
    int said[2];
    EXPECT_EQ(pipe(said), 0);
    pid_t writer = fork();
    if (writer == 0) {
        write_for_ever(said[1]);
    }
    int64_t reported = 0;
    char byte;
    for (; reported < 20; reported++) {
        EXPECT_EQ(read(said[0], &byte, 1), 1);
    }
    end_holder(writer);
    (void)close(said[1]);
    while (read(said[0], &byte, 1) == 1) {
        reported++;
    }
    struct sim_store *store = box_open(SIM_STORE_WRITE);
    sim_store_close(&store);
    int64_t rows = box_ask("SELECT count(*) FROM runs");
    EXPECT_EQ(rows % BOX_BATCH, 0);
    EXPECT(rows >= reported * BOX_BATCH);
    EXPECT(rows <= (reported + 1) * BOX_BATCH);
    EXPECT_EQ(box_ask("SELECT runs FROM sweeps"), rows);
    EXPECT_STR(box_ask_text("PRAGMA integrity_check"), "ok");
}
