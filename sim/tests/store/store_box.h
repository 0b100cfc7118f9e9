/*
 * store_box.h -- a database in a separate folder for each test of the store.
 *
 * Each test is a separate process, so there is one box: its path, and memory for
 * one recorder. SQLite is called directly only to play the others: another program
 * that reads, writes or damages the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/types.h>

#include "runtime/tests/test.h"
#include "sim/store/store.h"

#define BOX_WAIT_MS 200u
#define BOX_BATCH 500u
#define BOX_RING 256u
#define BOX_TEXTS 16u
#define BOX_BYTES 512u

extern char box_folder[]; /* Removed when the test's process ends. */
extern char box_path[128];
extern char box_message[SIM_STORE_MESSAGE_MAX]; /* Of the last opening that was refused. */

/* The call must go well; `store` is in scope. */
#define MUST(call) \
    do { \
        enum sim_store_err must__err = (call); \
        ck_assert_msg(must__err == SIM_STORE_OK, "%s: %s", #call, sim_store_message(store)); \
    } while (0)

/* Makes the folder, and no database in it. */
void box_make_folder(void);

/* Opens the box's database; it must go well. */
struct sim_store *box_open(enum sim_store_mode mode);

/* Both: a new database, open for writing. */
struct sim_store *box_new(void);

/* Opening must be refused with `err`, and say so in one line that names the file. */
void box_expect_refused(enum sim_store_mode mode, enum sim_store_err err);

/* The file itself. */
void box_write_file(const char *text, size_t length);
off_t box_file_size(void);

/* Another program's SQLite: runs `sql`; the first value of its first row, as number or as text
 * (static; "(null)" for NULL). */
void box_other_program(const char *sql);
int64_t box_ask(const char *sql);
const char *box_ask_text(const char *sql);

/* Begins a sweep of "mine/ping", and answers its number. */
int64_t box_sweep(struct sim_store *store);

/* BOX_BATCH rows of passing runs, from number `first` on. */
void box_fill_rows(struct sim_run_row *rows, uint64_t first);

/* The box's recorder, with nothing recorded, and its memory. */
struct sim_recorder box_recorder(void);
extern uint64_t box_hashes[8];
extern struct sim_text box_texts[BOX_TEXTS];

/* Records a text. */
void box_say(
        struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key, const char *text);

/* Stores a lost wake-up of actor 2, `reader`, owed at step 5, in a sweep of its own; its number. */
int64_t box_store_run(struct sim_store *store, const struct sim_recorder *recorder);
