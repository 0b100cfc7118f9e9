/*
 * variables_test.c -- names of what is in the variables of a library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tests/test.h"
#include "sim/core/code/variables.h"
#include "sim/program/sites.h"

/* Each word is 4 bytes. `static_of` returns the address of a variable in a function. */
static const char source[] =
        "struct node { int value; struct node *next; };\n"
        "struct queue { int head; struct node nodes[3]; union { int a; char b; }; };\n"
        "int ready; struct queue queue; int table[2][3];\n"
        "static struct queue hidden[2];\n"
        "_Atomic int counter;\n"
        "void *hidden_at(void) { return hidden; }\n"
        "void *static_of(void) { static int calls; return &calls; }\n"
        "int sim_test_site_line(void);\n"
        "int call(void) { return sim_test_site_line(); }\n";

static void *
load(const char *flags)
{
    char folder[] = "/tmp/rewake-names-XXXXXX";
    char path[64];
    char command[256];
    ck_assert(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/a.c", folder);
    FILE *file = fopen(path, "w");
    (void)fputs(source, file);
    (void)fclose(file);
    (void)snprintf(
            command, sizeof(command), "%s -shared -fPIC -o %s/lib.so %s", flags, folder, path);
    int status = system(command);
    (void)snprintf(path, sizeof(path), "%s/lib.so", folder);
    void *library = status == 0 ? dlopen(path, RTLD_NOW) : NULL;
    sim_sites_load();
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert(system(command) == 0);
    return library;
}

static void
expect_name(const void *address, const char *wanted)
{
    char name[64] = "";
    bool found = sim_variable_name(address, name, sizeof(name));
    ck_assert_msg(found ? wanted != NULL && strcmp(name, wanted) == 0 : wanted == NULL,
            "it is called '%s' and not '%s'", name, wanted != NULL ? wanted : "");
}

static char *
at(void *library, const char *name)
{
    void *found = dlsym(library, name);
    ck_assert(found != NULL);
    return found;
}

static char *
answer(void *library, const char *name)
{
    void *(*fn)(void) = NULL;
    void *found = at(library, name);
    memcpy(&fn, &found, sizeof(fn));
    return fn();
}

static void
expect_members(const char *flags)
{
    void *library = load(flags);
    if (library == NULL) {
        return;
    }
    char *queue = at(library, "queue");
    expect_name(at(library, "ready"), "ready");
    expect_name(at(library, "counter"), "counter");
    expect_name(queue, "queue.head");
    expect_name(queue + 8 + 16, "queue.nodes[1].value");
    expect_name(queue + 8 + 16 + 8, "queue.nodes[1].next");
    expect_name(queue + 8 + 16 + 9, "queue.nodes[1].next+1");
    expect_name(queue + 8 + 48, "queue.a");
    expect_name(queue + 4, "queue+4");
    expect_name(at(library, "table") + 16, "table[4]");
    expect_name(answer(library, "hidden_at") + 64, "hidden[1].head");
    expect_name(answer(library, "static_of"), "calls");
    expect_name(library, NULL);
}

/*
 * Goal: a variable has the name that its program gives it, down to the member.
 * Method: a library of both compilers, whose layout is known.
 */
TEST(variables_have_names_down_to_the_member)
{
    expect_members("gcc -g");
    expect_members("clang -g");
}

/*
 * Goal: without debug information the symbol table still names the variable.
 * Method: the same library without -g.
 */
TEST(variables_without_debug_information_have_an_offset)
{
    void *library = load("gcc");
    if (library != NULL) {
        expect_name(at(library, "ready"), "ready");
        expect_name(at(library, "queue") + 24, "queue+24");
        expect_name(answer(library, "hidden_at") + 64, "hidden+64");
    }
}
