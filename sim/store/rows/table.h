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
#pragma once

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

/* A column of another kind than its member's type says, or with another name; and neither. Of a
 * member within a member the column has the last name. */
#define SIM__AS(name, kind, type, member) \
    { \
        (name), (kind), offsetof(type, member), sizeof(((type *)0)->member) \
    }
#define SIM__NAMED(name, type, member) \
    SIM__AS(name, SIM__KIND_OF(((type *)0)->member), type, member)
#define SIM__COLUMN(type, member) SIM__NAMED(#member, type, member)

/* The same of up to eight members. */
#define SIM__EACH(...) \
    SIM__PICK(__VA_ARGS__, SIM__8, SIM__7, SIM__6, SIM__5, SIM__4, SIM__3, SIM__2, SIM__1, ) \
    (__VA_ARGS__)
#define SIM__PICK(type, a, b, c, d, e, f, g, h, chosen, ...) chosen
#define SIM__1(type, a) SIM__COLUMN(type, a)
#define SIM__2(type, a, ...) SIM__COLUMN(type, a), SIM__1(type, __VA_ARGS__)
#define SIM__3(type, a, ...) SIM__COLUMN(type, a), SIM__2(type, __VA_ARGS__)
#define SIM__4(type, a, ...) SIM__COLUMN(type, a), SIM__3(type, __VA_ARGS__)
#define SIM__5(type, a, ...) SIM__COLUMN(type, a), SIM__4(type, __VA_ARGS__)
#define SIM__6(type, a, ...) SIM__COLUMN(type, a), SIM__5(type, __VA_ARGS__)
#define SIM__7(type, a, ...) SIM__COLUMN(type, a), SIM__6(type, __VA_ARGS__)
#define SIM__8(type, a, ...) SIM__COLUMN(type, a), SIM__7(type, __VA_ARGS__)

#define SIM__COLUMNS_MAX 20

/* A table, and what is done with rows of it. Zero where it does not apply. */
struct sim__table {
    const char *name;
    const char *make; /* The script that makes it when it is first needed. */
    const char *key;  /* The column that has the key of all rows of a call. */
    /* Where it is not INSERT OR REPLACE: "INSERT INTO t (sweep, %s) SELECT ?1, %s FROM given". %s:
     * the names of the columns; c0, c1 … ?1: the key. */
    const char *sql;
    size_t row_size;
    struct sim__column columns[SIM__COLUMNS_MAX + 1]; /* Up to one without a name. */
};

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

/* In a transaction: runs the statement of given->table over all it describes. */
void sim__store_give(struct sim_store *store, const struct sim__given *given, int64_t key);

/* The same of a plain array. */
void sim__store_insert(struct sim_store *store, const struct sim__table *table, const void *rows,
        uint64_t count, int64_t key);

/* The same as a whole call: begin, insert, end. */
enum sim_store_err sim__store_write(struct sim_store *store, const struct sim__table *table,
        const void *rows, uint64_t count, int64_t key);

/* Reads the columns of the statement's row, in their order, into the struct at `row`. */
void sim__row_read(sqlite3_stmt *stmt, const struct sim__table *table, void *row);

/* Whether the database has the table; makes it, by a script, where it has not. */
bool sim__store_has(const struct sim_store *store, const char *table);
void sim__store_make(struct sim_store *store, const char *table, const char *script);
