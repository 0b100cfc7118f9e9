/*
 * main.c -- where the program begins.
 *
 * Alone in its file, so that test programs may have everything else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/cli/cli.h"
#include "sim/explore/worker/last_words.h"

/* What a library registered for the end (destructors, atexit) has no say in the status. */
int
main(int count, char **arguments)
{
    int status = sim_cli_main(count, arguments);
    (void)fflush(NULL);
    sim_last_words();
    if (status == SIM_EXIT_UNREAD) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
    _exit(status);
}
