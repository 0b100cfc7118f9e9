/*
 * last_words.c -- gcov's own functions, where they are there, and the edges of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/worker/last_words.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

#include "sim/cover/edges.h"

/* Linked in a coverage build only (Makefile, LINK.cov). */
extern void __gcov_dump(void) __attribute__((weak));
extern void __gcov_reset(void) __attribute__((weak));

#define WAITS_MAX 2000
#define WAIT_NS 1000000

static bool
counts(void)
{
    return __gcov_dump != NULL || sim_edges_count() > 0;
}

void
sim_last_words(void)
{
    (void)sim_edges_end();
    if (__gcov_dump != NULL) {
        __gcov_dump();
    }
}

/* Whoever asks kills: nobody can tell afterwards that it was asked first. */
static void
on_asked(int number)
{
    (void)number;
    sim_last_words();
    (void)raise(SIGKILL);
}

void
sim_last_words_begin(void)
{
    if (__gcov_reset != NULL) {
        __gcov_reset();
    }
    if (counts()) {
        struct sigaction action = {.sa_handler = on_asked, .sa_flags = SA_ONSTACK};
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(SIGUSR2, &action, NULL);
    }
}

static bool
is_dead(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

void
sim_last_words_ask(pid_t pid)
{
    if (!counts() || kill(pid, SIGUSR2) != 0) {
        return;
    }
    for (int i = 0; i < WAITS_MAX && !is_dead(pid); i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
}
