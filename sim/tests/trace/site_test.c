/*
 * site_test.c -- places in the source, of the program and of a library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/trace/site.h"

/*
 * Goal: reports on a reader's library name its lines, also where its file and function are called
 * like some of the program.
 * Method: two records of one place at two lines, as of a program and of a library loaded later.
 */
TEST(site_of_a_library_stands_before_one_of_the_program)
{
    static struct rt_site program = {"scenarios/same.c", "main_poll", 10, 0, 0, 0, 0};
    static struct rt_site library = {"/home/reader/same.c", "main_poll", 20, 0, 0, 0, 0};
    sim_sites_add(&program, &program + 1);
    EXPECT_EQ(sim_site_find(program.id)->line, 10);
    sim_sites_add(&library, &library + 1);
    EXPECT_EQ(library.id, program.id);
    EXPECT_EQ(sim_site_find(program.id)->line, 20);
}
