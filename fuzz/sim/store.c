/*
 * store.c -- the readers of the trace database, on databases that were damaged.
 *
 * Once, a real sweep writes a database: runs, failures, events, coverage. Each input draws damage
 * to a copy of it, of two sorts:
 *
 *   the file    bytes are overwritten, it is cut, bytes are appended
 *   the rows    any column of any row gets any value: numbers at their limits, text with control
 *               characters, bytes that are no tape, NULL
 *
 * and then every reader is called. Each returns a result, or one of its documented errors and one
 * line; a database that is only read stays as it is, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "sim/cli/cli.h"
#include "sim/cli/subject/subject.h"
#include "sim/store/store.h"

#define BASE_MAX (4u << 20)
#define NAMES_MAX 400u
#define NAME_SIZE 64u
#define DAMAGES_MAX 8u

/* A column of a table, or a view that a reader queries. */
struct name {
    char table[NAME_SIZE];
    char column[NAME_SIZE];
};

/* Made by the first input, shared by the others: none of it changes after that. */
static struct {
    char folder[64];
    char path[96];
    uint8_t *bytes;
    size_t size;
    struct name columns[NAMES_MAX];
    uint32_t columns_count;
    struct name views[NAMES_MAX];
    uint32_t views_count;
} base;

static FILE *nowhere;

/* ---- The undamaged database. ----------------------------------------------------------------- */

static void
remove_all(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        char path[sizeof(base.path) + 16];
        snprintf(path, sizeof(path), "%s%s", base.path, ends[i]);
        (void)unlink(path);
    }
}

static void
leave(void)
{
    remove_all();
    (void)rmdir(base.folder);
}

/* Runs a command of rewake, in this process, on the database; its output is dropped. Words are
 * separated by line ends. */
static int
command(const char *line)
{
    char text[256];
    char *words[16] = {text};
    int count = 1;
    snprintf(text, sizeof(text), "rewake\n%s\n--db\n%s", line, base.path);
    for (char *end = strchr(text, '\n'); end != NULL; end = strchr(end, '\n')) {
        *end++ = '\0';
        words[count++] = end;
    }
    FILE *kept[2] = {stdout, stderr};
    stdout = nowhere;
    stderr = nowhere;
    int status = sim_cli_main(count, words);
    stdout = kept[0];
    stderr = kept[1];
    return status;
}

static size_t
read_file(uint8_t *bytes)
{
    int file = open(base.path, O_RDONLY | O_CLOEXEC);
    fuzz_check(file >= 0);
    ssize_t got = read(file, bytes, BASE_MAX);
    fuzz_check(got >= 0);
    (void)close(file);
    return (size_t)got;
}

static uint32_t
list(const char *sql, struct name *names)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    uint32_t count = 0;
    fuzz_check(sqlite3_open(base.path, &db) == SQLITE_OK);
    fuzz_check(sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW && count < NAMES_MAX) {
        snprintf(names[count].table, NAME_SIZE, "%s", (const char *)sqlite3_column_text(rows, 0));
        snprintf(names[count].column, NAME_SIZE, "%s", (const char *)sqlite3_column_text(rows, 1));
        count++;
    }
    (void)sqlite3_finalize(rows);
    (void)sqlite3_close(db);
    return count;
}

static void
make_base(void)
{
    nowhere = fopen("/dev/null", "w");
    snprintf(base.folder, sizeof(base.folder), "%s/fuzz-store-XXXXXX",
            access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    fuzz_check(nowhere != NULL && mkdtemp(base.folder) != NULL);
    (void)atexit(leave);
    snprintf(base.path, sizeof(base.path), "%s/t.db", base.folder);
    fuzz_check(command("run\ncanary/lost-wakeup\ncanary/deadlock\n--runs\n9\n--jobs\n1\n"
                       "--no-shrink\n--record\nall") == SIM_EXIT_BUG);
    base.columns_count = list("SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info("
                              "m.name) c WHERE m.type = 'table' ORDER BY 1, c.cid",
            base.columns);
    base.views_count = list("SELECT name, name FROM sqlite_schema WHERE type = 'view' OR "
                            "type = 'table' ORDER BY 1",
            base.views);
    base.bytes = malloc(BASE_MAX);
    base.size = read_file(base.bytes);
    fuzz_check(base.size > 4096 && base.size < BASE_MAX && base.views_count > 10);
}

/* ---- Damage. --------------------------------------------------------------------------------- */

static void
write_file(const uint8_t *bytes, size_t size)
{
    remove_all();
    int file = open(base.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_check(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    (void)close(file);
}

/* Any value that a column may get. */
static void
bind_value(struct fuzz_tape *tape, sqlite3_stmt *statement)
{
    static const int64_t ends[] = {0, 1, -1, INT64_MAX, INT64_MIN, UINT32_MAX, 1 << 20};
    static const char *const texts[] = {"", "rw1:zoo/tokio-4497/broken:1:", "canary/lost-wakeup",
            "no/such/scenario", "\033[31m\r\nred", "\xff\xfe no UTF-8", "random:swarm=1", "1 2 3",
            "{\"a\":", "step_ns=99999999999999999999"};
    static uint8_t blob[256];
    switch (fuzz_below(tape, 5)) {
    case 0:
        (void)sqlite3_bind_null(statement, 1);
        break;
    case 1:
        (void)sqlite3_bind_int64(statement, 1, ends[fuzz_below(tape, 7)]);
        break;
    case 2:
        (void)sqlite3_bind_text(statement, 1, texts[fuzz_below(tape, 10)], -1, NULL);
        break;
    case 3: {
        uint32_t size = fuzz_below(tape, sizeof(blob));
        for (uint32_t i = 0; i < size; i++) {
            blob[i] = fuzz_byte(tape);
        }
        (void)sqlite3_bind_blob(statement, 1, blob, (int)size, SQLITE_TRANSIENT);
        break;
    }
    case 4:
        (void)sqlite3_bind_double(statement, 1, 1e300);
        break;
    }
}

/* Changes one column of some rows; the schema may refuse the value. */
static void
damage_rows(struct fuzz_tape *tape)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char sql[512];
    const struct name *name = &base.columns[fuzz_below(tape, base.columns_count)];
    uint32_t modulus = 1 + fuzz_below(tape, 4);
    snprintf(sql, sizeof(sql), "UPDATE OR IGNORE \"%s\" SET \"%s\" = ?1 WHERE rowid %% %u = 0",
            name->table, name->column, modulus);
    if (sqlite3_open(base.path, &db) == SQLITE_OK &&
            sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1; PRAGMA synchronous = 0", NULL,
                    NULL, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
        bind_value(tape, statement);
        (void)sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
}

static void
damage_file(struct fuzz_tape *tape)
{
    static uint8_t bytes[BASE_MAX + 256];
    size_t size = read_file(bytes);
    size_t at = size == 0 ? 0 : (fuzz_word(tape) & 0xffffffff) % size;
    uint32_t length = 1 + fuzz_below(tape, 32);
    switch (fuzz_below(tape, 3)) {
    case 0:
        for (uint32_t i = 0; i < length && at + i < size; i++) {
            bytes[at + i] = fuzz_byte(tape);
        }
        break;
    case 1:
        size = at;
        break;
    case 2:
        memset(bytes + size, 0x5a, length);
        size += length;
        break;
    }
    write_file(bytes, size);
}

/* ---- All readers. ---------------------------------------------------------------------------- */

static bool
is_line(const char *text, size_t length, void *argument)
{
    (void)argument;
    fuzz_check(memchr(text, '\n', length) == NULL);
    return true;
}

static bool
is_memory(const struct sim_remembered *failure, void *argument)
{
    (void)argument;
    fuzz_check(failure->scenario != NULL && failure->token != NULL);
    return true;
}

static void
read_run(struct sim_store *store, int64_t run)
{
    static struct sim_event events[64];
    struct sim_found_run found;
    uint32_t count = 0;
    if (sim_store_find_run(store, run, &found) != SIM_STORE_OK) {
        return;
    }
    fuzz_check(found.scenario != NULL);
    if (sim_store_read_events(store, run, 0, events, 64, &count) == SIM_STORE_OK) {
        fuzz_check(count <= 64);
    }
    sim_found_run_clear(&found);
}

static void
ask_views(struct fuzz_tape *tape, struct sim_store *store)
{
    for (uint32_t i = 0; i < 3; i++) {
        char sql[160];
        uint32_t view = fuzz_below(tape, base.views_count);
        snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" LIMIT 50", base.views[view].table);
        enum sim_store_err err = sim_store_query(
                store, sql, i % 2 == 0 ? SIM_STORE_TABLE : SIM_STORE_JSON, is_line, NULL);
        fuzz_check(err < SIM_STORE_ERRORS);
    }
}

static void
read_store(struct fuzz_tape *tape, enum sim_store_mode mode)
{
    char message[SIM_STORE_MESSAGE_MAX] = "";
    struct sim_store *store = NULL;
    if (sim_store_open(base.path, mode, 10, message, sizeof(message), &store) != SIM_STORE_OK) {
        fuzz_check(message[0] != '\0' && strchr(message, '\n') == NULL && store == NULL);
        return;
    }
    for (int64_t run = 1; run <= 3; run++) {
        read_run(store, run);
    }
    fuzz_check(sim_store_remembered(store, is_memory, NULL) < SIM_STORE_ERRORS);
    ask_views(tape, store);
    if (mode == SIM_STORE_WRITE) {
        const struct sim_remembered failure = {
                .scenario = "canary/lost-wakeup", .token = "rw1:x:1:", .verdict = 1};
        (void)!sim_store_remember(store, &failure);
        (void)!sim_store_forget(store, &failure);
    }
    sim_store_close(&store);
}

/* The commands that read and print. */
static void
ask_commands(struct fuzz_tape *tape)
{
    static const char *const commands[] = {
            "coverage", "coverage\n--json", "coverage\n--distill", "query\nSELECT * FROM failures"};
    int status = command(commands[fuzz_below(tape, 4)]);
    /* Every status that the help promises, except that of interrupted sweeps. */
    fuzz_check((status >= SIM_EXIT_HELD && status <= SIM_EXIT_NOTHING) ||
               status == SIM_EXIT_SYSTEM || status == SIM_EXIT_CAN_NOT_JUDGE);
}

/* The meaning of a token or a row of the database: found or refused, never guessed. */
static void
find_subject(struct fuzz_tape *tape)
{
    static const char *const names[] = {"run:1", "run:2", "run:3", "run:12"};
    static const struct sim_command show = {.name = "show"};
    struct sim_cli cli = {.command = &show, .settings = {.given = SIM_OPT(DB), .db = base.path}};
    struct sim_subject subject;
    memset(&subject, 0, sizeof(subject));
    FILE *kept = stderr;
    stderr = nowhere;
    fuzz_check(sim_registry_init(&cli.registry));
    int status = sim_subject_find(&cli, names[fuzz_below(tape, 4)], &subject);
    fuzz_check(status != 0 || subject.entry != NULL);
    sim_subject_done(&subject);
    sim_registry_fini(&cli.registry);
    stderr = kept;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t before[BASE_MAX];
    static uint8_t after[BASE_MAX];
    struct fuzz_tape tape = fuzz_tape(data, size);
    if (base.bytes == NULL) {
        make_base();
    }
    write_file(base.bytes, base.size);
    for (uint32_t i = 0; i < DAMAGES_MAX && fuzz_more(&tape); i++) {
        switch (fuzz_below(&tape, 3)) {
        case 0:
        case 1:
            damage_rows(&tape);
            break;
        case 2:
            damage_file(&tape);
            break;
        }
    }
    size_t was = read_file(before);
    read_store(&tape, SIM_STORE_READ);
    ask_commands(&tape);
    find_subject(&tape);
    fuzz_check(read_file(after) == was && memcmp(before, after, was) == 0);
    read_store(&tape, SIM_STORE_WRITE);
    return 0;
}
