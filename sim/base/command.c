/*
 * command.c -- commands of rewake to paste into a shell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"

static bool
is_plain(const char *word)
{
    return *word != '\0' &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "-_./:,@%+=") == strlen(word);
}

/* A word for the shell: as it is, or in quotes. */
static void
put_word(FILE *file, const char *word)
{
    (void)fputc(' ', file);
    if (is_plain(word)) {
        (void)fputs(word, file);
        return;
    }
    (void)fputc('\'', file);
    for (; *word != '\0'; word++) {
        (void)fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, file);
    }
    (void)fputc('\'', file);
}

/* What Linux takes as one argument of a command, with its end. */
#define ARGUMENT_MAX ((size_t)128 * 1024)

bool
sim_command_is_long(const char *subject)
{
    return strlen(subject) >= ARGUMENT_MAX;
}

char *
sim_command_of(const char *command, const char *library, const char *subject, const char *db)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    rt_assert(file != NULL);
    if (sim_command_is_long(subject)) {
        (void)fputs("echo", file);
        put_word(file, subject);
        (void)fputs(" | ", file);
    }
    (void)fprintf(file, "rewake %s", command);
    if (library != NULL) {
        const char *slash = strchr(library, '/');
        char *near = NULL;
        int made = slash == NULL ? asprintf(&near, "./%s", library) : 0;
        put_word(file, made > 0 ? near : library);
        free(near);
    }
    put_word(file, sim_command_is_long(subject) ? "-" : subject);
    if (db != NULL) {
        (void)fputs(" --db", file);
        put_word(file, db);
    }
    (void)fclose(file);
    return text;
}

char *
sim_command_debug(const char *replay, const char *subject)
{
    char *text = NULL;
    int made = sim_command_is_long(subject) ? 0 : asprintf(&text, "%s --gdb", replay);
    rt_assert(made >= 0);
    return text;
}
