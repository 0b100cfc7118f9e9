/*
 * table.h -- arrays of structs as rows of tables, described by their columns.
 *
 * One static array of columns a table says where each value lies in a struct. It makes the text of
 * the statement, gives the values to SQLite, and reads a row back into a struct.
 *
 * All rows go in by one INSERT ... SELECT from a virtual table, `given`, over the caller's array:
 * one prepared program runs over all of them, and no value passes through a bind. The table has
 * columns c0, c1 ... and shows what struct sim__given points at during one statement, else
 * nothing. Triggers and views of the file cannot name it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_STORE_ROWS_TABLE_H
#define SIM_STORE_ROWS_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/store/read.h"

/* How a value lies in a struct. */
enum sim__kind {
    SIM__U8,
    SIM__BOOL,
    SIM__U32,
    SIM__U64,       /* Also int64_t; the same 64 bits in SQLite. */
    SIM__OPTIONAL,  /* uint32_t; UINT32_MAX is NULL. */
    SIM__ID,        /* int64_t; 0 is NULL. */
    SIM__TEXT,      /* const char *, NULL is NULL. Read: borrowed until the next row. */
    SIM__CHARS,     /* char[size], terminated unless it is full. */
    SIM__TEXT_N,    /* const char *, and size_t after it. */
    SIM__BYTES,     /* The same of any bytes; none is NULL. */
    SIM__BLOB,      /* The same; none is x''. */
    SIM__SLICE,     /* uint32_t offset and length in given.bytes; none is NULL. */
    SIM__PAIR,      /* Two uint32_t, the first in the low half. */
    SIM__PACKED,    /* Of 32, 16, 8 and 8 bits, the first lowest. */
    SIM__COPY,      /* char *, read only: on the heap, the struct's. */
    SIM__BYTES_COPY /* uint8_t *, and size_t after it, likewise. */
};

struct sim__column {
    const char *name; /* In the table; or an expression that is read. */
    enum sim__kind kind;
    size_t offset;
    size_t size;
};

#define SIM__KIND_OF(value) \
    _Generic((value), uint8_t \
             : SIM__U8, bool \
             : SIM__BOOL, uint32_t \
             : SIM__U32, uint64_t \
             : SIM__U64, int64_t \
             : SIM__U64, const char * \
             : SIM__TEXT, char * \
             : SIM__CHARS)

/* A column: with another name than the member, of a kind that its type does not say; or neither. */
#define SIM__AS(name, kind, type, member) \
    { \
        (name), (kind), offsetof(type, member), sizeof(((type *)0)->member) \
    }
#define SIM__NAMED(name, type, member) \
    SIM__AS(name, SIM__KIND_OF(((type *)0)->member), type, member)
#define SIM__COLUMN(type, member) SIM__NAMED(#member, type, member)

#define SIM__COLUMNS_MAX 20

struct sim__table {
    /* What is done with the rows: "INSERT INTO t (sweep, %s) SELECT ?1, %s FROM given". %s: the
     * names of the columns; c0, c1 ... */
    const char *sql;
    const struct sim__column *columns;
    uint32_t count;
    size_t row_size;
    const char *name; /* Of a table that is made when it is first needed, … */
    const char *make; /* … by this script; NULL: it is there. */
};

/* A table of `type`, whose columns are the array `list`. */
#define SIM__TABLE(type, list) \
    .columns = (list), .count = sizeof(list) / sizeof(*(list)), .row_size = sizeof(type)

/* What `given` shows. */
struct sim__given {
    const struct sim__table *table; /* NULL between statements. */
    const void *rows;
    uint64_t count;
    uint64_t first; /* Row n is (first + n) & mask of the array. */
    uint64_t mask;
    const uint8_t *bytes; /* Of slices. */
    size_t bytes_size;
};

/* Registers `given` with `db`; *given is borrowed as long as it is open. SQLite's result. */
int sim__given_register(sqlite3 *db, struct sim__given *given);

/* In a transaction: runs the statement of given->table over all it describes, with ?1 = `key`. */
enum sim_store_err sim__store_give(
        struct sim_store *store, const struct sim__given *given, int64_t key);

/* The same of a plain array. */
enum sim_store_err sim__store_insert(struct sim_store *store, const struct sim__table *table,
        const void *rows, uint64_t count, int64_t key);

/* The same as a whole call: begin, insert, end. */
enum sim_store_err sim__store_write(struct sim_store *store, const struct sim__table *table,
        const void *rows, uint64_t count, int64_t key);

/* Reads the columns of the statement's row, in their order, into the struct at `row`. */
void sim__row_read(
        sqlite3_stmt *stmt, const struct sim__column *columns, uint32_t count, void *row);

/* Whether the database has the table; makes it, by a script, where it has not. */
bool sim__store_has(const struct sim_store *store, const char *table);
enum sim_store_err sim__store_make(struct sim_store *store, const char *table, const char *script);

#endif
