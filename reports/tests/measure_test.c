/*
 * measure_test.c -- text that is broken by measure fits, and none of it is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/page/measure.h"

#include <string.h>

#include "runtime/tests/test.h"

TEST(measure_wide_letters_are_wider)
{
    EXPECT(report_measure("W", 1) > report_measure("i", 1));
    EXPECT_EQ(report_measure("", 0), 0);
    EXPECT_EQ(report_measure("\xe2\x82\xac", 3), 100); /* One letter. */
    EXPECT_EQ(report_measure_px("i", 1, 100), 28);
}

/* Goal: whatever the text and the width, lines fit and together are the text. */
TEST(measure_lines_fit_and_are_the_whole_text)
{
    static const char text[] = "stores waker for a_very_long_word_without_any_blank_in_it \xc3\xbc"
                               "\xe2\x82\xac\xff and  two blanks";
    for (uint32_t width = 1; width < 300; width++) {
        const char *at = text;
        size_t left = strlen(text);
        size_t letters = 0;
        while (left > 0) {
            size_t next = 0;
            size_t line = report_measure_break(at, left, 12, width, &next);
            ck_assert(next > 0 && line <= next && next <= left);
            bool single = line < 2 || ((unsigned char)at[1] & 0xc0) == 0x80;
            ck_assert(single || report_measure_px(at, line, 12) <= width);
            ck_assert(next == left || ((unsigned char)at[next] & 0xc0) != 0x80);
            for (size_t i = 0; i < line; i++) {
                letters += at[i] != ' ';
            }
            at += next;
            left -= next;
        }
        size_t expected = 0;
        for (const char *c = text; *c != '\0'; c++) {
            expected += *c != ' ';
        }
        ck_assert_uint_eq(letters, expected);
    }
}
