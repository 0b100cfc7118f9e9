/*
 * sites_test.c -- the lines of calls of a library that knows nothing of rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/core/record/site.h"
#include "sim/program/sites.h"

/* Stands for a function of rewake: the library below finds it in this program. */
__attribute__((visibility("default"))) int sim_test_site_line(void);

static char function[128];

/* The line from which it was called; 0: not known. */
int
sim_test_site_line(void)
{
    const struct rt_site *site = sim_site_of(__builtin_return_address(0));
    (void)snprintf(function, sizeof(function), "%s", site != NULL ? site->function : "");
    return site != NULL ? (int)site->line : 0;
}

static const char source[] =
        "int sim_test_site_line(void);\n"                                       /* 1 */
        "int plainly(void) { return 2 - sim_test_site_line(); }\n"              /* 2 */
        "static inline __attribute__((always_inline)) int inlined(void)\n"      /* 3 */
        "{ return 4 - sim_test_site_line(); }\n"                                /* 4 */
        "int around(void) { return 2 * inlined(); }\n"                          /* 5 */
        "__attribute__((noinline)) int last(void)\n"                            /* 6 */
        "{ return sim_test_site_line(); }\n"                                    /* 7 */
        "__attribute__((noinline)) int last_of_last(void) { return last(); }\n" /* 8 */
        "int outside(void) { return 9 - last_of_last(); }\n"                    /* 9 */
        "int (*volatile pointer)(void) = sim_test_site_line;\n"                 /* 10 */
        "int unknown(void) { return 2 * pointer(); }\n";                        /* 11 */

/* The library, compiled with `flags` in a folder of its own; NULL: there is no such compiler. */
static char folder[64];

static void *
load(const char *flags)
{
    char path[128];
    char command[512];
    (void)snprintf(folder, sizeof(folder), "/tmp/rewake-sites-XXXXXX");
    ck_assert(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/sites_test_lib.c", folder);
    FILE *file = fopen(path, "w");
    (void)fputs(source, file);
    (void)fclose(file);
    (void)snprintf(command, sizeof(command), "%s -shared -fPIC -o %s/lib.so %s 2>/dev/null", flags,
            folder, path);
    int status = system(command);
    (void)snprintf(path, sizeof(path), "%s/lib.so", folder);
    return status == 0 ? dlopen(path, RTLD_LAZY) : NULL;
}

/* Reads it: its file is needed until then. */
static void
read_sites(void)
{
    char command[128];
    sim_sites_load();
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert(system(command) == 0);
}

static int
call(void *library, const char *name)
{
    int (*fn)(void) = NULL;
    void *found = dlsym(library, name);
    ck_assert(found != NULL);
    memcpy(&fn, &found, sizeof(fn));
    return fn();
}

static void
expect_lines(const char *flags)
{
    void *library = load(flags);
    if (library == NULL) {
        read_sites();
        return;
    }
    EXPECT_EQ(call(library, "plainly"), 2); /* Not known yet: the line is 0. */
    read_sites();
    EXPECT_EQ(call(library, "plainly"), 0);
    ck_assert_str_eq(function, "plainly");
    EXPECT_EQ(call(library, "around"), 0);
    ck_assert_str_eq(function, "inlined");
    int optimised = strstr(flags, "-O2") != NULL ? 0 : 9 - 7;
    int outside = call(library, "outside");
    ck_assert_msg(outside == optimised, "%s: outside returns %d", flags, outside);
    EXPECT_EQ(call(library, "unknown"), 0);
    ck_assert_str_eq(function, "");
}

/*
 * Goal: each call of ours has the line of the program that makes it.
 * Method: a library compiled by both compilers, with and without a linkage table, whose functions
 * return the difference between the line that they know and the one found. Optimised, the function
 * `last` ends in a jump, so that its caller's caller is the one that calls.
 */
TEST(sites_of_calls_have_their_lines)
{
    expect_lines("gcc -g -O0");
    expect_lines("gcc -g -O2");
    expect_lines("gcc -g -O2 -fno-plt");
    expect_lines("gcc -g -O2 -fcf-protection=full -Wl,-z,now");
    expect_lines("clang -g -O0");
    expect_lines("clang -g -O2");
}

/*
 * Goal: without debug information a call has its function and offset, which do not depend on where
 * the library was loaded.
 * Method: a stripped library, which calls.
 */
TEST(sites_without_debug_information_have_function_and_offset)
{
    void *library = load("gcc -O1 -s");
    if (library == NULL) {
        read_sites();
        return;
    }
    read_sites();
    EXPECT_EQ(call(library, "plainly"), 2);
    ck_assert_msg(strncmp(function, "plainly+0x", 10) == 0, "it is called %s", function);
}

static uint32_t ids[2][64];
static uint32_t id_count[2];
static uint32_t building;

static void
note_id(const struct rt_site *site, void *argument)
{
    (void)argument;
    if (strcmp(sim_site_file(site), "sites_test_lib.c") == 0 && id_count[building] < 64) {
        ids[building][id_count[building]++] = site->id;
    }
}

/*
 * Goal: ids are those of the source, whatever the compiler made of it.
 * Method: ids of two builds of the same source, by two compilers at two levels.
 */
TEST(sites_have_the_same_ids_in_another_build)
{
    if (load("gcc -g -O0") == NULL) {
        read_sites();
        return;
    }
    read_sites();
    sim_sites_each(note_id, NULL);
    building = 1;
    ck_assert(load("gcc -g -O0 -DOTHER=1 -falign-functions=64") != NULL);
    read_sites();
    sim_sites_each(note_id, NULL);
    EXPECT_EQ(id_count[0], 3); /* plainly, inlined and last */
    EXPECT_EQ(id_count[1], id_count[0]);
    ck_assert(memcmp(ids[0], ids[1], sizeof(ids[0])) == 0);
}
