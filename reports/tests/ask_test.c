/*
 * ask_test.c -- one question to the trace database, row by row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/ask.h"

#include <string.h>

#include "sim/tests/store/store_box.h"

TEST(ask_reads_rows_by_parameters)
{
    struct sim_store *store = box_new();
    struct report_ask ask =
            report_ask(store, "SELECT ?1 + value, ?2, NULL, x'0102' FROM json_each('[10, 20]')");
    report_put_int(&ask, 7);
    report_put_text(&ask, "a'b");
    EXPECT(report_row(&ask));
    EXPECT_EQ(report_int(&ask, 0), 17);
    EXPECT_STR(report_text(&ask, 1), "a'b");
    EXPECT(report_null(&ask, 2));
    EXPECT_STR(report_text(&ask, 2), "");
    size_t size = 0;
    EXPECT(memcmp(report_blob(&ask, 3, &size), "\1\2", 2) == 0 && size == 2);
    EXPECT(report_row(&ask));
    EXPECT_EQ(report_int(&ask, 0), 27);
    EXPECT(!report_row(&ask));
    EXPECT_EQ(report_done(&ask), SIM_STORE_OK);
    sim_store_close(&store);
}

TEST(ask_keeps_its_first_error)
{
    struct sim_store *store = box_new();
    struct report_ask ask = report_ask(store, "SELECT n FROM nowhere WHERE run = ?");
    report_put_int(&ask, 1);
    EXPECT(!report_row(&ask));
    EXPECT(report_done(&ask) != SIM_STORE_OK);
    EXPECT(strstr(sim_store_message(store), "nowhere") != NULL);
    sim_store_close(&store);
}
