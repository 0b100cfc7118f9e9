/*
 * command.h -- commands of rewake to paste into a shell.
 *
 * Strings are from malloc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>

/* "rewake replay ./mine.so rw1:…"; `library`, `db` NULL: none. Where the subject is too long for an
 * argument: "echo rw1:… | rewake replay ./mine.so -". */
char *sim_command_of(const char *command, const char *library, const char *subject, const char *db);

/* `replay`, a command that replays `subject`, in gdb; NULL where the subject is too long for an
 * argument: gdb reads stdin itself. */
char *sim_command_debug(const char *replay, const char *subject);

/* Whether Linux does not take `subject` as one argument of a command. */
bool sim_command_is_long(const char *subject);
