/*
 * compile.c -- `rewake cc` and `rewake cxx`: the compiler, with decision points at atomics.
 *
 * All arguments are the compiler's. Before them come -g and -fsanitize=thread; the linker gets
 * librewake-tsan instead of the sanitizer's run time. clang can leave that out by an option. gcc
 * always asks the linker for -ltsan, so a folder is searched first in which librewake-tsan has
 * this name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/cli/child.h"
#include "sim/cli/cli.h"

#define OWN_ARGUMENTS_MAX 64u

struct compiling {
    const char **arguments; /* Of the compiler, up to a NULL. */
    uint32_t count;
    char names[256];       /* The words of $CC. */
    char folder[PATH_MAX]; /* Of librewake-tsan.so; "": it was not found. */
    char search[2][PATH_MAX + 32];
    bool clang;
    bool pie; /* What it makes can be loaded anywhere, without an option. */
};

static void
add(struct compiling *compiling, const char *argument)
{
    compiling->arguments[compiling->count++] = argument;
}

/* ---- The compiler. --------------------------------------------------------------------------- */

/* The first of `names` that is a program on $PATH; NULL: none. */
static const char *
installed(const char *const names[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        const char *ask[] = {names[i], "-dumpversion", NULL};
        if (sim_child_run(ask, &(struct sim_child_setup){.folder = NULL}) == 0) {
            return names[i];
        }
    }
    return NULL;
}

/* $CC may have arguments: "ccache gcc". */
static bool
add_compiler(struct compiling *compiling, const char *variable, const char *const names[2])
{
    const char *chosen = getenv(variable);
    chosen = chosen != NULL && *chosen != '\0' ? chosen : installed(names);
    char *rest = NULL;
    if (chosen == NULL || strlen(chosen) >= sizeof(compiling->names)) {
        return false;
    }
    (void)snprintf(compiling->names, sizeof(compiling->names), "%s", chosen);
    for (char *word = strtok_r(compiling->names, " ", &rest);
            word != NULL && compiling->count < OWN_ARGUMENTS_MAX / 2;
            word = strtok_r(NULL, " ", &rest)) {
        add(compiling, word);
    }
    return compiling->count > 0;
}

/* By what it defines. False: it does not run, or is neither gcc nor clang. */
static bool
find_family(struct compiling *compiling)
{
    static const char *const defines[] = {"-dM", "-E", "-x", "c", "/dev/null"};
    uint32_t count = compiling->count;
    char *out = NULL;
    for (uint32_t i = 0; i < sizeof(defines) / sizeof(*defines); i++) {
        add(compiling, defines[i]);
    }
    add(compiling, NULL);
    int status = sim_child_run(compiling->arguments, &(struct sim_child_setup){.ret_out = &out});
    bool gnu = status == 0 && out != NULL && strstr(out, "#define __GNUC__ ") != NULL;
    compiling->clang = gnu && strstr(out, "#define __clang__ ") != NULL;
    compiling->pie = gnu && strstr(out, "#define __PIE__ ") != NULL;
    free(out);
    compiling->count = count;
    return gnu;
}

/* ---- The library. ---------------------------------------------------------------------------- */

static bool
has_library(const char *folder)
{
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof(path), "%s/librewake-tsan.so", folder);
    return access(path, R_OK) == 0;
}

#ifdef __aarch64__
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

/* Beside the program, as it is built; or where it was installed. */
static void
find_library(struct compiling *compiling)
{
    static const char *const places[] = {"", "/../lib", "/../lib64", ("/../lib/" MULTIARCH)};
    const char *self = sim_child_self();
    const char *slash = self != NULL ? strrchr(self, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(*places); i++) {
        char folder[PATH_MAX];
        (void)snprintf(folder, sizeof(folder), "%.*s%s", (int)(slash - self), self, places[i]);
        if (has_library(folder) && realpath(folder, compiling->folder) != NULL) {
            return;
        }
    }
    compiling->folder[0] = '\0';
}

static void
add_folder(struct compiling *compiling, uint32_t which, const char *option, const char *below)
{
    char *text = compiling->search[which];
    (void)snprintf(
            text, sizeof(compiling->search[which]), "%s%s%s", option, compiling->folder, below);
    add(compiling, text);
}

/* ---- The command. ---------------------------------------------------------------------------- */

#define GIVEN(cli, options) given((cli), (options), sizeof(options) / sizeof(*(options)))

static bool
given(const struct sim_cli *cli, const char *const *options, size_t count)
{
    for (uint32_t i = 0; i < cli->count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(cli->arguments[i], options[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void
add_library(struct compiling *compiling)
{
    if (compiling->clang) {
        add(compiling, "-fno-sanitize-link-runtime");
        add_folder(compiling, 0, "-L", "");
        add(compiling, "-Wl,--push-state,--no-as-needed,-lrewake-tsan,--pop-state");
    } else {
        add_folder(compiling, 0, "-L", "/rewake-tsan");
    }
    add_folder(compiling, 1, "-Wl,-rpath,", "");
}

/* What comes before the user's arguments, so that theirs win. False: the library is missing. */
static bool
add_own(struct compiling *compiling, const struct sim_cli *cli)
{
    static const char *const unlinked[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"};
    static const char *const not_pie[] = {"-shared", "-r", "-static", "-no-pie", "-static-pie"};
    add(compiling, "-g");
    add(compiling, "-fsanitize=thread");
    if (!compiling->clang) {
        add(compiling, "-Wno-tsan"); /* Fences are supported here. */
    }
    if (!compiling->pie) {
        add(compiling, "-fPIE");
    }
    if (GIVEN(cli, unlinked)) {
        return true;
    }
    if (!compiling->pie && !GIVEN(cli, not_pie)) {
        add(compiling, "-pie");
    }
    find_library(compiling);
    add_library(compiling);
    return compiling->folder[0] != '\0';
}

/* Replaces this process: the exit status is the compiler's. */
static int
start(const struct compiling *compiling)
{
    (void)fflush(NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)execvp(compiling->arguments[0], (char *const *)(uintptr_t)compiling->arguments);
    return sim_cli_fail(
            SIM_EXIT_SYSTEM, "'%s' does not start: %s", compiling->arguments[0], strerror(errno));
}

static int
compile(struct sim_cli *cli, const char *variable, const char *const names[2])
{
    static struct compiling compiling;
    compiling.arguments =
            sim_heap_new((size_t)cli->count + OWN_ARGUMENTS_MAX, sizeof(*compiling.arguments));
    if (!add_compiler(&compiling, variable, names)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM,
                "no compiler: install %s or %s, or name one. Example: %s=%s-14 rewake %s -o x x.c",
                names[0], names[1], variable, names[1], cli->command->name);
    }
    if (!find_family(&compiling)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM,
                "'%s' does not run, or is neither gcc nor clang: name another by %s=PROGRAM",
                compiling.arguments[0], variable);
    }
    if (!add_own(&compiling, cli)) {
        return sim_cli_fail(SIM_EXIT_SYSTEM,
                "librewake-tsan.so is neither beside %s nor in the lib folder next to it: install "
                "rewake again (make install)",
                sim_child_self());
    }
    rt_assert(compiling.count < OWN_ARGUMENTS_MAX);
    for (uint32_t i = 0; i < cli->count; i++) {
        add(&compiling, cli->arguments[i]);
    }
    add(&compiling, NULL);
    return start(&compiling);
}

static int
compile_c(struct sim_cli *cli)
{
    static const char *const names[] = {"gcc", "clang"};
    return compile(cli, "CC", names);
}

static int
compile_cxx(struct sim_cli *cli)
{
    static const char *const names[] = {"g++", "clang++"};
    return compile(cli, "CXX", names);
}

#define HELP(variable, example) \
    "The compiler is $" variable ", else the first that is installed. All arguments are its own, " \
    "and so is the exit status. It compiles with -g -fsanitize=thread, so that " \
    "`rewake run` sees each atomic operation: others may run before it. The program " \
    "is linked with librewake-tsan instead of the sanitizer's run time, and also runs without " \
    "rewake.\n" \
    "\n" example

SIM_COMMAND(command_c, .name = "cc", .purpose = SIM_PURPOSE_FIND,
        .usage = "[ARGUMENTS OF THE COMPILER]",
        .about = "compile and link C, with decision points at atomics",
        .help = HELP("CC", "    rewake cc -O2 -o prog prog.c -pthread\n"
                           "    rewake run ./prog\n"
                           "    CC=clang rewake cc -c part.c\n"),
        .takes = SIM_TAKES_COMMAND | SIM_TAKES_FILES, .arguments_max = UINT32_MAX,
        .run = compile_c);

SIM_COMMAND(command_cxx, .name = "cxx", .purpose = SIM_PURPOSE_FIND,
        .usage = "[ARGUMENTS OF THE COMPILER]",
        .about = "compile and link C++, with decision points at atomics",
        .help = HELP("CXX", "    rewake cxx -std=c++20 -o prog prog.cc -pthread\n"
                            "    rewake run ./prog\n"
                            "    CXX=clang++ rewake cxx -c part.cc\n"),
        .takes = SIM_TAKES_COMMAND | SIM_TAKES_FILES, .arguments_max = UINT32_MAX,
        .run = compile_cxx);
