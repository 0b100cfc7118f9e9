/*
 * page_test.c -- what a paragraph refers to, in colour.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/page.h"

#include <stdlib.h>

#include "runtime/tests/test.h"

#define LINK "\033]8;;"
#define LINE_AT(to, text) LINK to "\033\\\033[36m" text LINK "\033\\\033[0m"

/* "`main` ends in f.c:3, at step 7", as a page of this width shows it. */
static void
expect_paragraph(bool colour, const char *expected)
{
    struct sim_page line;
    struct sim_page page;
    sim_page_init(&line, false);
    sim_page_put_name(&line, "the main");
    sim_page_put(&line, " ends in ");
    sim_page_put_line(&line, "/nowhere/f.c", 3);
    sim_page_put(&line, ", at ");
    sim_page_put_step(&line, 7);
    sim_page_init(&page, colour);
    page.width = 10;
    sim_page_paragraph(&page, &line, 1);
    EXPECT_STR(sim_page_text(&page), expected);
    sim_page_fini(&page);
    sim_page_fini(&line);
}

TEST(page_names_and_lines_are_in_colour_without_a_change_of_lines)
{
    (void)setenv("REWAKE_LINK", "x://{file}?a b={line}", 1);
    expect_paragraph(false, " `the\n main`\n ends in\n f.c:3, at\n step 7\n");
    expect_paragraph(true, " \033[1m`the\033[0m\n \033[1mmain`\033[0m\n ends in\n " LINE_AT(
                                   "x:///nowhere/f.c?ab=3", "f.c:3") ", at\n step 7\n");
    (void)setenv("REWAKE_LINK", "", 1);
    expect_paragraph(true, " \033[1m`the\033[0m\n \033[1mmain`\033[0m\n ends in\n " LINE_AT(
                                   "", "f.c:3") ", at\n step 7\n"); /* A file that is not here. */
}

TEST(page_tone_continues_behind_a_name)
{
    struct sim_page line;
    struct sim_page page;
    sim_page_init(&line, false);
    sim_page_put_name(&line, "a");
    sim_page_init(&page, true);
    sim_page_tone(&page, SIM_TONE_BAD);
    sim_page_put_referring(&page, &line);
    EXPECT_STR(sim_page_text(&page), "\033[1;31m\033[1m`a`\033[0m\033[1;31m");
    sim_page_fini(&page);
    sim_page_fini(&line);
}
