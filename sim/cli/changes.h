/*
 * changes.h -- hearing that a file was written again.
 *
 * Who builds a library removes it, makes it empty, writes it piece by piece, or puts a new one in
 * its place; so its folder is watched, and a change counts when the file has been left alone for
 * a while and is whole. A folder that goes (a clean build) is waited for.
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

/* Begins to watch the file at `path`, which need not be there. False: the system refused; errno
 * says why. */
bool sim_changes_init(struct sim_changes *changes, const char *path);
void sim_changes_fini(struct sim_changes *changes);

/* Waits at most `timeout_ms` for something to happen to the file. True: it has; not yet that it is
 * over. Ends early at a signal. */
bool sim_changes_heard(struct sim_changes *changes, int timeout_ms);

/* Waits until the file is left alone and is whole; false: it is not there, or is still not whole
 * after a while in which nobody wrote. */
bool sim_changes_settle(struct sim_changes *changes);

/* Whether the file is there, not empty, and if it is an ELF file to its end. */
bool sim_changes_is_whole(const struct sim_changes *changes);

#endif
