/*
 * child.h -- runs other programs, one at a time, and ends them.
 *
 * A child has its own process group, so that all that it started (a make and its compilers) can be
 * ended. ^C, SIGTERM and SIGHUP are caught here: they end the child, and sim_child_interrupted is
 * true from then on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where its output goes. */
struct sim_child_setup {
    const char *folder; /* Where it runs; NULL: here. */
    char **ret_out;     /* Its stdout, from malloc; NULL: as `loud` says. */
    bool loud;          /* stdout and stderr are ours; else they go to `log`, or nowhere. */
    const char *log;    /* A file, truncated; NULL: nowhere. */
};

/* From here on signals end the child and not this process. */
void sim_child_listen(void);
bool sim_child_interrupted(void);

/* Runs `arguments`, up to a NULL, the first one found as a shell finds it. Its exit status; 128 and
 * the signal that ended it; 127 when there is no such program; -1 when the system refused. */
int sim_child_run(const char *const *arguments, const struct sim_child_setup *setup);

/* sim_child_run in two halves. 0: the system refused. */
pid_t sim_child_start(const char *const *arguments, const struct sim_child_setup *setup);
int sim_child_wait(pid_t pid);
/* Whether it has ended; *ret_status as of sim_child_run. Then it must not be waited for again. */
bool sim_child_ended(pid_t pid, int *ret_status);
void sim_child_end(pid_t pid);

/* The path of this program; static. NULL: it was not found. */
const char *sim_child_self(void);
