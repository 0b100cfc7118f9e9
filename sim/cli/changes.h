/*
 * changes.h -- detects that a file was written.
 *
 * A build removes a library, truncates it, writes it piece by piece, or renames another one to it;
 * so the folder is watched, and a change counts when the file has had no event for a while and is
 * whole. A folder that is removed (a clean build) is waited for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CLI_CHANGES_H
#define SIM_CLI_CHANGES_H

#include <limits.h>
#include <stdbool.h>

struct sim_changes {
    char folder[PATH_MAX];
    char name[NAME_MAX + 1];
    char path[PATH_MAX + NAME_MAX + 2];
    int fd;    /* inotify's. */
    int watch; /* -1: the folder is not there. */
};

/* Begins to watch the file at `path`, which need not exist. False: see errno. */
bool sim_changes_init(struct sim_changes *changes, const char *path);
void sim_changes_fini(struct sim_changes *changes);

/* Waits at most `timeout_ms` for an event of the file; more may follow. Ends early at a signal. */
bool sim_changes_heard(struct sim_changes *changes, int timeout_ms);

/* Waits until the file has no more events and is whole. False: it does not exist, or is not whole
 * after a while without events. */
bool sim_changes_settle(struct sim_changes *changes);

/* Whether the file exists, is not empty, and, if it is an ELF file, is complete. */
bool sim_changes_is_whole(const struct sim_changes *changes);

#endif
