/*
 * main.c -- main(), alone in its file: test programs link everything else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/cli.h"
#include "sim/engine/worker/exit_flush.h"

/* A closed stream stays unusable: otherwise the next file that is opened gets its number, and
 * output goes into that file. Opened in the wrong direction, so that its use still fails. */
static bool
keep_streams_apart(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
                open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

/* _exit: what a library registered for the end (destructors, atexit) cannot change the status. */
int
main(int count, char **arguments)
{
    if (!keep_streams_apart()) {
        (void)dprintf(STDERR_FILENO, "rewake: cannot open /dev/null: %s\n", strerror(errno));
        _exit(SIM_EXIT_SYSTEM);
    }
    int status = sim_cli_main(count, arguments);
    (void)fflush(NULL);
    sim_exit_flush();
    if (status == SIM_EXIT_UNREAD) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
    _exit(status);
}
