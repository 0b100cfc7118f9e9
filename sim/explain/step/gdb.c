/*
 * gdb.c -- the arguments for gdb, and where its script lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/step/gdb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"

#define ARGUMENTS_MAX 24u

/* ---- Finding things. ------------------------------------------------------------------------- */

/* Of this program, links followed: it may be called by another name from anywhere. */
static bool
own_path(char ret_path[SIM_GDB_PATH_MAX])
{
    rt_assert(ret_path != NULL);
    ssize_t length = readlink("/proc/self/exe", ret_path, SIM_GDB_PATH_MAX - 1);
    ret_path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Takes `levels` components from the end. */
static void
go_up(char *path, uint32_t levels)
{
    rt_assert(levels > 0);
    for (uint32_t i = 0; i < levels; i++) {
        char *slash = strrchr(path, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
}

bool
sim_gdb_script(char ret_path[SIM_GDB_PATH_MAX])
{
    rt_assert(ret_path != NULL);
    /* In the tree the program is build/VARIANT/rewake; installed it is bin/rewake, and that place
     * is the one to be named when there is none. */
    static const struct {
        uint32_t levels;
        const char *below;
    } places[] = {{3, "/scripts/gdb/rewake.py"}, {2, "/share/rewake/gdb/rewake.py"}};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        char base[SIM_GDB_PATH_MAX];
        (void)own_path(base);
        go_up(base, places[i].levels);
        int length = snprintf(ret_path, SIM_GDB_PATH_MAX, "%s%s", base, places[i].below);
        if (length > 0 && (size_t)length < SIM_GDB_PATH_MAX && access(ret_path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- gdb. ------------------------------------------------------------------------------------ */

struct arguments {
    const char *list[ARGUMENTS_MAX];
    size_t count;
};

static void
add(struct arguments *arguments, const char *argument)
{
    rt_assert(arguments->count < ARGUMENTS_MAX);
    rt_assert(arguments->count + 1 < ARGUMENTS_MAX);
    arguments->list[arguments->count++] = argument;
}

void
sim_gdb_exec(const struct sim_gdb_replay *replay, char ret_error[SIM_GDB_ERROR_MAX])
{
    rt_assert(replay->subject != NULL);
    rt_assert(ret_error != NULL);
    char script[SIM_GDB_PATH_MAX];
    char self[SIM_GDB_PATH_MAX];
    char step[24];
    struct arguments arguments = {.count = 0};
    if (!sim_gdb_script(script) || !own_path(self)) {
        (void)snprintf(
                ret_error, SIM_GDB_ERROR_MAX, "the commands for gdb are missing: %s", script);
        return;
    }
    (void)snprintf(step, sizeof(step), "%llu", (unsigned long long)replay->step);
    add(&arguments, "gdb");
    add(&arguments, "-q");
    add(&arguments, "-x");
    add(&arguments, script);
    add(&arguments, "-ex");
    add(&arguments, "run");
    /* No shell sees them: gdb quotes what stands behind --args. */
    add(&arguments, "--args");
    add(&arguments, self);
    add(&arguments, "replay");
    if (replay->library != NULL) {
        add(&arguments, replay->library);
    }
    add(&arguments, replay->subject);
    add(&arguments, "--here");
    if (replay->lenient) {
        add(&arguments, "--lenient");
    }
    if (replay->db != NULL) {
        add(&arguments, "--db");
        add(&arguments, replay->db);
    }
    add(&arguments, "--step");
    add(&arguments, step);
    add(&arguments, NULL);
    (void)fflush(NULL);
    union {
        const char **ours;
        char *const *theirs; /* execvp changes none of them. */
    } list = {.ours = arguments.list};
    (void)execvp("gdb", list.theirs);
    (void)snprintf(ret_error, SIM_GDB_ERROR_MAX, "%s%s",
            errno == ENOENT
                    ? "gdb is not installed (Debian: apt-get install gdb); another debugger "
                      "can run the same with --here in place of --gdb"
                    : "gdb could not be started: ",
            errno == ENOENT ? "" : strerror(errno));
}

/* ---- Cores. ---------------------------------------------------------------------------------- */

/* The system's pattern, in its first line. */
static bool
read_pattern(char *ret_pattern, size_t size)
{
    rt_assert(size > 1);
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
    bool read = file != NULL && fgets(ret_pattern, (int)size, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (read) {
        ret_pattern[strcspn(ret_pattern, "\n")] = '\0';
    }
    return read;
}

/* Adds the pattern with the letters p, the process, and e, its name, filled in; others stay. */
static void
put_expanded(const char *pattern, pid_t pid, FILE *out)
{
    rt_assert(pid > 0);
    bool has_pid = false;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            (void)fprintf(out, "%d", (int)pid);
            has_pid = true;
            at++;
        } else if (at[0] == '%' && at[1] == 'e') {
            (void)fputs("rewake", out);
            at++;
        } else {
            (void)fputc(*at, out);
        }
    }
    int uses_pid = '0';
    FILE *file = has_pid ? NULL : fopen("/proc/sys/kernel/core_uses_pid", "re");
    if (file != NULL) {
        uses_pid = fgetc(file);
        (void)fclose(file);
    }
    if (uses_pid > '0') {
        (void)fprintf(out, ".%d", (int)pid);
    }
}

void
sim_gdb_core(pid_t pid, char *ret_text, size_t size)
{
    char pattern[256] = "core";
    rt_assert(size > 0);
    (void)read_pattern(pattern, sizeof(pattern));
    FILE *out = fmemopen(ret_text, size, "w");
    rt_assert(out != NULL);
    if (pattern[0] == '|') {
        pattern[1 + strcspn(pattern + 1, " ")] = '\0';
        (void)fprintf(out, "with %s (coredumpctl, where that is systemd's)", pattern + 1);
    } else {
        put_expanded(pattern, pid, out);
    }
    (void)fclose(out);
    ret_text[size - 1] = '\0';
}
