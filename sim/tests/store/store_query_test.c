/*
 * store_query_test.c -- questions to the trace database, and those that are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/store/store_box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct sim_store *store = box_new();
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
    struct sim_store *store = box_new();
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
    struct sim_store *store = box_new();
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
    struct sim_store *store = box_new();
    (void)box_sweep(store);
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
    store = box_open(SIM_STORE_READ);
    expect_no_answer(store, "DELETE FROM sweeps");
    EXPECT_STR(query(store, "SELECT scenario FROM sweeps", SIM_STORE_JSON, &lines),
            "{\"scenario\":\"mine/ping\"}\n");
    sim_store_close(&store);
}
