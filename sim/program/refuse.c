/*
 * refuse.c -- functions of the C library that end a program's run.
 *
 * Elsewhere (in the parent, on the world's stack) they are the C library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/refuse.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "sim/program/start.h"

#define ONE_PROCESS "a run is one process"
#define ONE_SPACE "libraries have one space of names"

void
sim_program_refuse(const char *name, const char *why)
{
    struct sim_world *world = sim_world_current;
    sim_stack_take(&world->outcome.stack);
    sim_fail(world, SIM_VERDICT_REFUSED, SIM_ORACLE_PROGRAM, world->current, 0,
            "%s() was called, which is not simulated: %s", name, why);
}

/* X(type, what it returns where the C library has no such function, name, why, parameters,
 * arguments). */
#define REFUSED_LIST(X) \
    X(int, -1, execv, ONE_PROCESS, (const char *path, char *const list[]), (path, list)) \
    X(int, -1, execvp, ONE_PROCESS, (const char *path, char *const list[]), (path, list)) \
    X(int, -1, execve, ONE_PROCESS, (const char *path, char *const list[], char *const all[]), \
            (path, list, all)) \
    X(int, -1, execvpe, ONE_PROCESS, (const char *path, char *const list[], char *const all[]), \
            (path, list, all)) \
    X(int, -1, fexecve, ONE_PROCESS, (int fd, char *const list[], char *const all[]), \
            (fd, list, all)) \
    X(int, -1, posix_spawn, ONE_PROCESS, \
            (pid_t * ret, const char *path, const posix_spawn_file_actions_t *actions, \
                    const posix_spawnattr_t *how, char *const list[], char *const all[]), \
            (ret, path, actions, how, list, all)) \
    X(int, -1, posix_spawnp, ONE_PROCESS, \
            (pid_t * ret, const char *path, const posix_spawn_file_actions_t *actions, \
                    const posix_spawnattr_t *how, char *const list[], char *const all[]), \
            (ret, path, actions, how, list, all)) \
    X(int, -1, system, ONE_PROCESS, (const char *command), (command)) \
    X(FILE *, NULL, popen, ONE_PROCESS, (const char *command, const char *mode), (command, mode)) \
    X(int, -1, daemon, ONE_PROCESS, (int directory, int streams), (directory, streams)) \
    X(void *, NULL, dlmopen, ONE_SPACE, (Lmid_t space, const char *path, int how), \
            (space, path, how))

/* The C library's function of this name; NULL, and errno ENOSYS: it has none. */
static void *
next_of(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    errno = symbol == NULL ? ENOSYS : errno;
    return symbol;
}

/* Weak: where another module plays the call, that is the one. */
#define REFUSED(type, none, name, why, parameters, arguments) \
    __attribute__((weak)) type name parameters \
    { \
        type(*next) parameters = NULL; \
        if (sim__program_here() != NULL) { \
            sim_program_refuse(#name, why); \
        } \
        void *symbol = next_of(#name); \
        memcpy(&next, &symbol, sizeof(next)); \
        return next != NULL ? next arguments : none; \
    }
REFUSED_LIST(REFUSED)
#undef REFUSED

/* ---- Lists of arguments. --------------------------------------------------------------------- */

#define LIST_MAX 256u

/* The list that begins with `first`, in `list`, which has space for LIST_MAX. */
static char *const *
take_list(char **list, const char *first, va_list *arguments)
{
    uint32_t count = 0;
    for (const char *at = first; at != NULL && count < LIST_MAX - 1;
            at = va_arg(*arguments, char *)) {
        list[count++] = (char *)(uintptr_t)at;
    }
    list[count] = NULL;
    return list;
}

int
execl(const char *path, const char *first, ...)
{
    char *list[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    (void)take_list(list, first, &arguments);
    va_end(arguments);
    return execv(path, list);
}

int
execlp(const char *path, const char *first, ...)
{
    char *list[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    (void)take_list(list, first, &arguments);
    va_end(arguments);
    return execvp(path, list);
}

int
execle(const char *path, const char *first, ...)
{
    char *list[LIST_MAX];
    va_list arguments;
    va_start(arguments, first);
    (void)take_list(list, first, &arguments);
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, list, environment);
}
