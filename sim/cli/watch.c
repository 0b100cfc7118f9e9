/*
 * watch.c -- `rewake watch`: starts `rewake run` whenever its library was built.
 *
 * Each run is a separate process, so that the old library is gone. Without a library, this program
 * is watched: it has the scenarios of the tree. A change during a run ends that run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/cli/changes.h"
#include "sim/cli/child.h"
#include "sim/cli/cli.h"

#define ARGUMENTS_MAX 512u
#define COMMAND_LINE_MAX ((size_t)1 << 20)
#define LOOK_MS 200

struct watch {
    struct sim_changes changes;
    const char *what; /* The file, as on the command line. */
    bool json;
    bool screen; /* Cleared before each run. */
    char *line;  /* Owned: the command line, each word with a 0. */
    const char *arguments[ARGUMENTS_MAX];
    uint32_t runs;
};

/* The words of this command line, for `run`, as they were typed. */
static bool
take_command_line(struct watch *watch)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    watch->line = malloc(COMMAND_LINE_MAX);
    rt_assert(watch->line != NULL);
    size_t size = file != NULL ? fread(watch->line, 1, COMMAND_LINE_MAX, file) : 0;
    uint32_t count = 0;
    for (size_t at = 0; at < size && count + 1 < ARGUMENTS_MAX; count++) {
        watch->arguments[count] = watch->line + at;
        at += strnlen(watch->line + at, size - at) + 1;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    bool fits = count >= 2 && count + 1 < ARGUMENTS_MAX && size < COMMAND_LINE_MAX;
    watch->arguments[count] = NULL;
    if (fits) {
        watch->arguments[1] = "run";
    }
    return fits;
}

/* The path of the program: a build replaces the file. */
static bool
take_program(struct watch *watch)
{
    static char self[PATH_MAX];
    const char *path = sim_child_self();
    (void)snprintf(self, sizeof(self), "%s", path != NULL ? path : "");
    watch->arguments[0] = self;
    watch->what = watch->what != NULL ? watch->what : self;
    return path != NULL;
}

/* ---- Runs. ----------------------------------------------------------------------------------- */

static void
report(const struct watch *watch, const char *what)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "watch: %s %s\n", watch->what, what);
}

/* Runs until it is done or the file changes. True: it has changed. */
static bool
run_once(struct watch *watch)
{
    const struct sim_child_setup setup = {.loud = true};
    int status = 0;
    if (watch->screen) {
        (void)fputs("\033[H\033[2J", stdout);
        (void)fflush(stdout);
    }
    pid_t pid = sim_child_start(watch->arguments, &setup);
    watch->runs++;
    while (pid > 0 && !sim_child_ended(pid, &status)) {
        if (sim_changes_heard(&watch->changes, LOOK_MS / 4)) {
            sim_child_end(pid);
            return true;
        }
        if (sim_child_interrupted()) {
            (void)sim_child_wait(pid);
            return false;
        }
    }
    return false;
}

static void
watch_on(struct watch *watch)
{
    bool changed = false;
    if (!sim_changes_is_whole(&watch->changes)) {
        report(watch, "is missing, or not whole; waiting for it");
        changed = sim_changes_settle(&watch->changes);
    } else {
        changed = run_once(watch);
        report(watch, "is watched; ^C ends");
    }
    while (!sim_child_interrupted()) {
        if (!changed && !sim_changes_heard(&watch->changes, LOOK_MS)) {
            continue;
        }
        changed = false;
        if (!sim_changes_settle(&watch->changes)) {
            continue; /* Missing, or still not whole. */
        }
        report(watch, "has changed");
        changed = run_once(watch);
    }
}

/* ---- The command. ---------------------------------------------------------------------------- */

static int
watch_command(struct sim_cli *cli)
{
    static struct watch watch;
    const char *term = getenv("TERM");
    watch = (struct watch){.json = sim_given(&cli->settings, SIM_CLI_OPTION_JSON)};
    bool dumb = term == NULL || strcmp(term, "dumb") == 0;
    watch.screen = !watch.json && !dumb && isatty(STDOUT_FILENO) == 1;
    if (cli->count > 0 && sim_cli_is_library(cli->arguments[0])) {
        watch.what = cli->arguments[0];
    }
    if (!take_command_line(&watch) || !take_program(&watch)) {
        free(watch.line);
        return sim_cli_fail(SIM_EXIT_SYSTEM, "/proc/self/cmdline cannot be read, or is too long");
    }
    if (!sim_changes_init(&watch.changes, watch.what)) {
        free(watch.line);
        return sim_cli_fail(
                SIM_EXIT_SYSTEM, "%s cannot be watched: %s", watch.what, strerror(errno));
    }
    sim_child_listen();
    watch_on(&watch);
    sim_changes_fini(&watch.changes);
    free(watch.line);
    return SIM_EXIT_HELD;
}

SIM_COMMAND(command, .name = "watch", .usage = "[LIB.so] [PATTERN...] [options of run]",
        .about = "run scenarios again whenever their library changes",
        .help = "The arguments are those of `rewake run`, which is started for each change, "
                "in a new process; without a library, the program itself is watched. A "
                "library that is still being written is waited for; one that does not load is "
                "reported, and the next one waited for. On a terminal the screen is cleared "
                "before each run. ^C ends it, with status 0.\n",
        .options = SIM_RUN_OPTIONS, .takes = SIM_TAKES_NAMES | SIM_TAKES_FILES,
        .arguments_max = UINT32_MAX, .run = watch_command);
