/*
 * table.c -- arrays of structs as a virtual table, and rows read into structs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/rows/table.h"

#include <stdlib.h>
#include <string.h>

#include "sim/store/internal.h"

/* ---- A value. -------------------------------------------------------------------------------- */

/* The pointer and the size after it. */
struct span {
    const char *bytes;
    size_t size;
};

/* Two numbers of which the second may be an offset's length. */
struct pair {
    uint32_t low;
    uint32_t high;
};

struct packed {
    uint32_t first;
    uint16_t second;
    uint8_t third;
    uint8_t fourth;
};

union value {
    uint8_t u8;
    bool flag;
    uint32_t u32;
    int64_t i64;
    const char *text;
    struct span span;
    struct pair pair;
    struct packed packed;
};

/* Bytes of a value in its struct, where it need not be aligned as the union is. */
static const size_t widths[] = {
        [SIM__U8] = sizeof(uint8_t),
        [SIM__BOOL] = sizeof(bool),
        [SIM__U32] = sizeof(uint32_t),
        [SIM__U64] = sizeof(uint64_t),
        [SIM__OPTIONAL] = sizeof(uint32_t),
        [SIM__ID] = sizeof(int64_t),
        [SIM__TEXT] = sizeof(char *),
        [SIM__CHARS] = 0, /* They stay where they are. */
        [SIM__TEXT_N] = sizeof(struct span),
        [SIM__BYTES] = sizeof(struct span),
        [SIM__BLOB] = sizeof(struct span),
        [SIM__SLICE] = sizeof(struct pair),
        [SIM__PAIR] = sizeof(struct pair),
        [SIM__PACKED] = sizeof(struct packed),
        [SIM__COPY] = sizeof(char *),
        [SIM__BYTES_COPY] = sizeof(struct span),
};

static void
give_text(sqlite3_context *to, const char *text, size_t size)
{
    if (text == NULL) {
        sqlite3_result_null(to);
    } else {
        /* Static: nothing changes until the statement is over. */
        sqlite3_result_text64(to, text, size, SQLITE_STATIC, SQLITE_UTF8);
    }
}

static void
give_bytes(sqlite3_context *to, const void *bytes, size_t size)
{
    if (bytes == NULL || size == 0) {
        sqlite3_result_null(to);
    } else {
        sqlite3_result_blob64(to, bytes, size, SQLITE_STATIC);
    }
}

static void
give_slice(sqlite3_context *to, const struct sim__given *given, struct pair slice)
{
    rt_assert(slice.high == 0 || slice.low <= given->bytes_size);
    rt_assert(slice.high == 0 || slice.high <= given->bytes_size - slice.low);
    give_bytes(to, slice.high != 0 ? given->bytes + slice.low : NULL, slice.high);
}

static void
give_unless(sqlite3_context *to, int64_t value, int64_t none)
{
    if (value == none) {
        sqlite3_result_null(to);
    } else {
        sqlite3_result_int64(to, value);
    }
}

static int64_t
packed_number(struct packed packed)
{
    return (int64_t)(packed.first | (uint64_t)packed.second << 32 | (uint64_t)packed.third << 48 |
                     (uint64_t)packed.fourth << 56);
}

static void
give(sqlite3_context *to, const struct sim__given *given, const struct sim__column *column,
        const char *at)
{
    union value value;
    memcpy(&value, at, widths[column->kind]);
    switch (column->kind) {
    case SIM__U8:
        sqlite3_result_int(to, value.u8);
        break;
    case SIM__BOOL:
        sqlite3_result_int(to, value.flag);
        break;
    case SIM__U32:
        sqlite3_result_int64(to, value.u32);
        break;
    case SIM__U64:
        sqlite3_result_int64(to, value.i64);
        break;
    case SIM__OPTIONAL:
        give_unless(to, value.u32, UINT32_MAX);
        break;
    case SIM__ID:
        give_unless(to, value.i64, 0);
        break;
    case SIM__PAIR:
        sqlite3_result_int64(to, (int64_t)(value.pair.low | (uint64_t)value.pair.high << 32));
        break;
    case SIM__PACKED:
        sqlite3_result_int64(to, packed_number(value.packed));
        break;
    case SIM__TEXT:
    case SIM__COPY:
        give_text(to, value.text, value.text != NULL ? strlen(value.text) : 0);
        break;
    case SIM__CHARS:
        give_text(to, at, strnlen(at, column->size));
        break;
    case SIM__TEXT_N:
        give_text(to, value.span.bytes, value.span.size);
        break;
    case SIM__BYTES:
    case SIM__BYTES_COPY:
        give_bytes(to, value.span.bytes, value.span.size);
        break;
    case SIM__BLOB:
        sqlite3_result_blob64(
                to, value.span.size > 0 ? value.span.bytes : "", value.span.size, SQLITE_STATIC);
        break;
    case SIM__SLICE:
        give_slice(to, given, value.pair);
        break;
    }
}

/* A copy on the heap; NULL for NULL. */
static char *
copy_text(sqlite3_stmt *stmt, int index)
{
    const char *text = (const char *)sqlite3_column_text(stmt, index);
    char *copy = text != NULL ? strdup(text) : NULL;
    rt_assert(text == NULL || copy != NULL);
    return copy;
}

static struct span
copy_bytes(sqlite3_stmt *stmt, int index)
{
    const void *bytes = sqlite3_column_blob(stmt, index);
    size_t size = bytes != NULL ? (size_t)sqlite3_column_bytes(stmt, index) : 0;
    char *copy = size > 0 ? malloc(size) : NULL;
    rt_assert(size == 0 || copy != NULL);
    if (copy != NULL) {
        memcpy(copy, bytes, size);
    }
    return (struct span){copy, size};
}

/* Of the kinds that are read. */
static union value
read_value(sqlite3_stmt *stmt, int index, enum sim__kind kind)
{
    union value value = {.i64 = 0};
    int64_t number = sqlite3_column_int64(stmt, index);
    switch (kind) {
    case SIM__U32:
        value.u32 = (uint32_t)number;
        break;
    case SIM__U64:
    case SIM__ID:
        value.i64 = number;
        break;
    case SIM__PAIR:
        value.pair = (struct pair){(uint32_t)number, (uint32_t)((uint64_t)number >> 32)};
        break;
    case SIM__PACKED:
        value.packed = (struct packed){(uint32_t)number, (uint16_t)((uint64_t)number >> 32),
                (uint8_t)((uint64_t)number >> 48), (uint8_t)((uint64_t)number >> 56)};
        break;
    case SIM__TEXT:
        value.text = (const char *)sqlite3_column_text(stmt, index);
        break;
    case SIM__COPY:
        value.text = copy_text(stmt, index);
        break;
    case SIM__BYTES_COPY:
        value.span = copy_bytes(stmt, index);
        break;
    case SIM__U8:
    case SIM__BOOL:
    case SIM__OPTIONAL:
    case SIM__CHARS:
    case SIM__TEXT_N:
    case SIM__BYTES:
    case SIM__BLOB:
    case SIM__SLICE:
        rt_unreached("a kind that is only written");
    }
    return value;
}

void
sim__row_read(sqlite3_stmt *stmt, const struct sim__table *table, void *row)
{
    int count = 0;
    for (const struct sim__column *column = table->columns; column->name != NULL; column++) {
        union value value = read_value(stmt, count++, column->kind);
        memcpy((char *)row + column->offset, &value, widths[column->kind]);
    }
    rt_assert(sqlite3_column_count(stmt) == count);
}

/* ---- What SQLite asks of a virtual table. ---------------------------------------------------- */

struct given_vtab {
    sqlite3_vtab base;
    const struct sim__given *given;
};

struct given_cursor {
    sqlite3_vtab_cursor base;
    const struct sim__given *given;
    uint64_t row;
};

static int
given_connect(sqlite3 *db, void *argument, int argc, const char *const *argv,
        sqlite3_vtab **ret_vtab, char **ret_error)
{
    (void)argc;
    (void)argv;
    (void)ret_error;
    int rc = sqlite3_declare_vtab(db,
            "CREATE TABLE given (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14,"
            " c15, c16, c17, c18, c19)");
    struct given_vtab *vtab = rc == SQLITE_OK ? sqlite3_malloc64(sizeof(*vtab)) : NULL;
    if (vtab == NULL) {
        return rc != SQLITE_OK ? rc : SQLITE_NOMEM;
    }
    *vtab = (struct given_vtab){.given = argument};
    *ret_vtab = &vtab->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

static int
given_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* The only plan: from the first row to the last. */
static int
given_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const struct given_vtab *self = (const struct given_vtab *)(const void *)vtab;
    info->estimatedRows = (sqlite3_int64)self->given->count;
    return SQLITE_OK;
}

static int
given_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
    const struct given_vtab *self = (const struct given_vtab *)(const void *)vtab;
    struct given_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    *cursor = (struct given_cursor){.given = self->given};
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int
given_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int
given_filter(
        sqlite3_vtab_cursor *cursor, int number, const char *text, int argc, sqlite3_value **argv)
{
    (void)number;
    (void)text;
    (void)argc;
    (void)argv;
    ((struct given_cursor *)(void *)cursor)->row = 0;
    return SQLITE_OK;
}

static int
given_next(sqlite3_vtab_cursor *cursor)
{
    ((struct given_cursor *)(void *)cursor)->row++;
    return SQLITE_OK;
}

static int
given_eof(sqlite3_vtab_cursor *cursor)
{
    const struct given_cursor *self = (const struct given_cursor *)(const void *)cursor;
    return self->row >= self->given->count;
}

static int
given_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int index)
{
    const struct given_cursor *self = (const struct given_cursor *)(const void *)cursor;
    const struct sim__given *given = self->given;
    const struct sim__table *table = given->table;
    rt_assert(table != NULL && table->columns[index].name != NULL);
    const struct sim__column *column = &table->columns[index];
    uint64_t row = (given->first + self->row) & given->mask;
    give(to, given, column, (const char *)given->rows + row * table->row_size + column->offset);
    return SQLITE_OK;
}

static int
given_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    const struct given_cursor *self = (const struct given_cursor *)(const void *)cursor;
    *ret_rowid = (sqlite3_int64)self->row;
    return SQLITE_OK;
}

/* Without xCreate a table is there by its name alone, and cannot be made by a statement. */
static const sqlite3_module given_module = {
        .xConnect = given_connect,
        .xBestIndex = given_best_index,
        .xDisconnect = given_disconnect,
        .xOpen = given_open,
        .xClose = given_close,
        .xFilter = given_filter,
        .xNext = given_next,
        .xEof = given_eof,
        .xColumn = given_column,
        .xRowid = given_rowid,
};

int
sim__given_register(sqlite3 *db, struct sim__given *given)
{
    rt_assert(db != NULL);
    return sqlite3_create_module(db, "given", &given_module, given);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

bool
sim__store_has(const struct sim_store *store, const char *table)
{
    return sqlite3_table_column_metadata(
                   store->db, "main", table, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

void
sim__store_make(struct sim_store *store, const char *table, const char *script)
{
    if (!sim__store_has(store, table)) {
        sim__store_execute(store, script);
    }
}

/* Of a member within a member: its last name. */
static const char *
name_of(const struct sim__column *column)
{
    const char *dot = strrchr(column->name, '.');
    return dot != NULL ? dot + 1 : column->name;
}

/* The table's statement, with its columns filled in: their names, and "c0, c1 …". */
static char *
statement_text(const struct sim__table *table)
{
    sqlite3_str *names_text = sqlite3_str_new(NULL);
    sqlite3_str *values_text = sqlite3_str_new(NULL);
    for (int i = 0; table->columns[i].name != NULL; i++) {
        const char *between = i > 0 ? ", " : "";
        sqlite3_str_appendf(names_text, "%s%s", between, name_of(&table->columns[i]));
        sqlite3_str_appendf(values_text, "%sc%d", between, i);
    }
    char *names = sqlite3_str_finish(names_text);
    char *values = sqlite3_str_finish(values_text);
    char *sql = table->sql != NULL ? sqlite3_mprintf(table->sql, names, values)
                : table->key != NULL
                        ? sqlite3_mprintf("INSERT OR REPLACE INTO %s (%s, %s) SELECT ?1, %s"
                                          " FROM given",
                                  table->name, table->key, names, values)
                        : sqlite3_mprintf("INSERT OR REPLACE INTO %s (%s) SELECT %s FROM given",
                                  table->name, names, values);
    rt_assert(sql != NULL);
    sqlite3_free(names);
    sqlite3_free(values);
    return sql;
}

void
sim__store_give(struct sim_store *store, const struct sim__given *given, int64_t key)
{
    const struct sim__table *table = given->table;
    rt_assert(store->given.table == NULL);
    if (table->make != NULL) {
        sim__store_make(store, table->name, table->make);
    }
    char *sql = statement_text(table);
    store->given = *given;
    sim__store_run_int(store, sql, key);
    store->given = (struct sim__given){.table = NULL};
    sqlite3_free(sql);
}

void
sim__store_insert(struct sim_store *store, const struct sim__table *table, const void *rows,
        uint64_t count, int64_t key)
{
    const struct sim__given given = {
            .table = table, .rows = rows, .count = count, .mask = UINT64_MAX};
    if (count > 0) {
        sim__store_give(store, &given, key);
    }
}

enum sim_store_err
sim__store_write(struct sim_store *store, const struct sim__table *table, const void *rows,
        uint64_t count, int64_t key)
{
    sim__store_begin(store);
    sim__store_insert(store, table, rows, count, key);
    return sim__store_end(store);
}
