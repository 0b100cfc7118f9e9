/*
 * exit_flush.c -- gcov's own functions, where they are there, and the edges of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/exit_flush.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/base/assert.h"
#include "sim/search/cover/edges.h"
#include "sim/thread/thread.h"

/* Linked in a coverage build only (Makefile, LINK.cov). */
extern void __gcov_dump(void) __attribute__((weak));
extern void __gcov_reset(void) __attribute__((weak));

#define LIBRARIES_MAX 8u
#define WAITS_MAX 2000
#define WAIT_NS 1000000

/* gcov's functions in a library: each has its own copy. */
struct library {
    void (*dump)(void);
    void (*reset)(void);
};

/* Of the process: filled while libraries are loaded, then only read. */
static struct {
    struct library libraries[LIBRARIES_MAX];
    uint32_t count;
} counting;

static bool
counts(void)
{
    return __gcov_dump != NULL || counting.count > 0 || sim_edges_count() > 0;
}

void
sim_exit_flush_library(void *handle)
{
    rt_assert(handle != NULL);
    rt_assert(counting.count <= LIBRARIES_MAX);
    struct library library = {NULL, NULL};
    void *dump = dlsym(handle, "__gcov_dump");
    void *reset = dlsym(handle, "__gcov_reset");
    /* C has no cast from the one kind of pointer to the other. */
    memcpy(&library.dump, &dump, sizeof(dump));
    memcpy(&library.reset, &reset, sizeof(reset));
    bool own = library.dump == __gcov_dump;
    if (dump != NULL && reset != NULL && !own && counting.count < LIBRARIES_MAX) {
        counting.libraries[counting.count++] = library;
    }
}

/* What was written once is not written again, unless it was reset. */
void
sim_exit_flush_run(void)
{
    for (uint32_t i = 0; i < counting.count; i++) {
        rt_assert(counting.libraries[i].dump != NULL);
        counting.libraries[i].dump();
        counting.libraries[i].reset();
    }
}

void
sim_exit_flush(void)
{
    (void)sim_edges_end();
    sim_exit_flush_run();
    if (__gcov_dump != NULL) {
        __gcov_dump();
    }
}

/* The process dies of SIGKILL, as if it had not been asked before. */
static void
on_asked(int number)
{
    (void)number;
    sim_thread_leave();
    sim_exit_flush();
    (void)raise(SIGKILL);
}

void
sim_exit_flush_begin(void)
{
    rt_assert(counting.count <= LIBRARIES_MAX);
    if (__gcov_reset != NULL) {
        __gcov_reset();
    }
    for (uint32_t i = 0; i < counting.count; i++) {
        counting.libraries[i].reset();
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
    rt_assert(pid > 0);
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

void
sim_exit_flush_ask(pid_t pid)
{
    rt_assert(pid > 0);
    if (!counts() || kill(pid, SIGUSR2) != 0) {
        return;
    }
    for (int i = 0; i < WAITS_MAX && !is_dead(pid); i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
}
