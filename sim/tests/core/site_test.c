/*
 * site_test.c -- source locations of the program and of a library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/code/lambda.h"
#include "sim/core/record/site.h"

/*
 * Goal: reports on a user's library have its lines, also where its file and function have names
 * of the program's.
 * Method: two records of one location at two lines, as of a program and of a library loaded later.
 */
TEST(site_of_a_library_is_found_before_one_of_the_program)
{
    static struct rt_site program = {"scenarios/same.c", "main_poll", 10, 0, 0, 0, 0};
    static struct rt_site library = {"/home/reader/same.c", "main_poll", 20, 0, 0, 0, 0};
    sim_sites_add(&program, &program + 1);
    EXPECT_EQ(sim_site_find(program.id)->line, 10);
    sim_sites_add(&library, &library + 1);
    EXPECT_EQ(library.id, program.id);
    EXPECT_EQ(sim_site_find(program.id)->line, 20);
}

/*
 * Goal: a line without a record has a number, too, that leads back to it.
 * Method: two lines of a function; the names are in memory that is written over. And the same line
 * and function of a file of that name in another folder, whose number would be the same.
 */
TEST(site_of_a_line_that_no_probe_names)
{
    char function[] = "serve";
    uint32_t id = sim_sites_line("reader.c", function, 7);
    uint32_t next = sim_sites_line("reader.c", function, 8);
    EXPECT(id != 0 && next != 0 && id != next);
    EXPECT_EQ(sim_sites_line("reader.c", function, 7), id);
    uint32_t elsewhere = sim_sites_line("other/reader.c", function, 7);
    EXPECT(elsewhere != id);
    EXPECT_STR(sim_site_find(elsewhere)->file, "other/reader.c");
    EXPECT_STR(sim_site_find(id)->file, "reader.c");
    function[0] = '?';
    EXPECT_EQ(sim_site_find(id)->line, 7);
    EXPECT_EQ(sim_site_find(next)->line, 8);
    EXPECT(strcmp(sim_site_find(id)->function, "serve") == 0);
}

static void
expect_lambda(const char *pretty, const char *wanted)
{
    char *name = sim_lambda_name(pretty);
    ck_assert_msg(wanted != NULL ? name != NULL && strcmp(name, wanted) == 0 : name == NULL,
            "%s is called %s", pretty, name != NULL ? name : "nothing");
    free(name);
}

/*
 * Goal: a lambda is named after the function around it, and both compilers' spellings give one
 * name.
 * Method: __PRETTY_FUNCTION__ of gcc 12 and clang 14.
 */
TEST(site_lambda_is_named_after_the_function_around_it)
{
    expect_lambda("ns::K::f<int>(int, int (*)(char))::<lambda(int)>", "f::lambda");
    expect_lambda("auto ns::K::f(int, int (*)(char))::(anonymous class)::operator()(int) const",
            "f::lambda");
    expect_lambda("ns::{anonymous}::anon()::<lambda()>", "anon::lambda");
    expect_lambda("auto ns::(anonymous namespace)::anon()::(anonymous class)::operator()() const",
            "anon::lambda");
    expect_lambda("K::get() const::<lambda(auto:1)> [with auto:1 = int]", "get::lambda");
    expect_lambda("auto K::get() const::(anonymous class)::operator()(auto) const [x:auto = int]",
            "get::lambda");
    expect_lambda("main()::<lambda(int)>::<lambda()>", "main::lambda");
    expect_lambda("<lambda()>", "lambda");
    expect_lambda("bool ns::Ready::operator()(int)", "Ready::operator");
    expect_lambda("bool ns::Ready<T>::operator()(int) [with T = int]", "Ready::operator");
    expect_lambda("int main()", NULL);
}

/*
 * Goal: the better name changes no number: a run is the same with any compiler.
 * Method: a record with gcc's name of a lambda, and one with clang's.
 */
TEST(site_lambda_has_the_number_of_the_compilers_name)
{
    static struct rt_site gcc = {"l.cc", "operator()", 3, 0, 0, 0, "auto go()::<lambda()>"};
    static struct rt_site clang = {
            "l.cc", "operator()", 3, 0, 0, 0, "auto go()::(anonymous class)::operator()() const"};
    static struct rt_site bare = {"l.cc", "operator()", 3, 0, 0, 0, 0};
    sim_sites_add(&gcc, &gcc + 1);
    sim_sites_add(&clang, &clang + 1);
    sim_sites_add(&bare, &bare + 1);
    EXPECT_EQ(gcc.id, bare.id);
    EXPECT_EQ(clang.id, bare.id);
    EXPECT_STR(gcc.function, "go::lambda");
    EXPECT_STR(clang.function, "go::lambda");
}
