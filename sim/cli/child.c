/*
 * child.c -- fork, exec, wait, and ^C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

#define NOT_FOUND 127

/* The child that runs now; 0: none. Global, as signals are. */
static volatile pid_t running;
static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
    (void)number;
    interrupted = 1;
    if (running > 0) {
        (void)kill(-running, SIGTERM);
    }
}

void
sim_child_listen(void)
{
    static const int heard[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(heard) / sizeof(*heard); i++) {
        (void)sigaction(heard[i], &action, NULL);
    }
}

bool
sim_child_interrupted(void)
{
    return interrupted != 0;
}

const char *
sim_child_self(void)
{
    static char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0 ? path : NULL;
}

/* ---- The child's side. ----------------------------------------------------------------------- */

static void
redirect(const struct sim_child_setup *setup, int out)
{
    int null = open("/dev/null", O_RDWR);
    int log = setup->log != NULL ? open(setup->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600)
                                 : null;
    (void)dup2(null, STDIN_FILENO);
    if (!setup->loud) {
        (void)dup2(log, STDOUT_FILENO);
        (void)dup2(log, STDERR_FILENO);
    }
    if (out >= 0) {
        (void)dup2(out, STDOUT_FILENO);
    }
}

static _Noreturn void
become(const char *const *arguments, const struct sim_child_setup *setup, int out)
{
    union {
        const char *const *ours;
        char *const *theirs; /* execvp changes none of them. */
    } list = {.ours = arguments};
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    redirect(setup, out);
    if (setup->folder == NULL || chdir(setup->folder) == 0) {
        (void)execvp(arguments[0], list.theirs);
    }
    _exit(NOT_FOUND);
}

/* ---- The parent's side. ---------------------------------------------------------------------- */

static pid_t
start(const char *const *arguments, const struct sim_child_setup *setup, int out)
{
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        become(arguments, setup, out);
    }
    if (pid < 0) {
        return 0;
    }
    (void)setpgid(pid, pid); /* Parent and child do it: either may be first. */
    running = pid;
    if (interrupted != 0) {
        (void)kill(-pid, SIGTERM);
    }
    return pid;
}

pid_t
sim_child_start(const char *const *arguments, const struct sim_child_setup *setup)
{
    rt_assert(setup->ret_out == NULL);
    return start(arguments, setup, -1);
}

static int
status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool
sim_child_ended(pid_t pid, int *ret_status)
{
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) {
        return false;
    }
    running = 0;
    *ret_status = status_of(status);
    return true;
}

int
sim_child_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            running = 0;
            return -1;
        }
    }
    running = 0;
    return status_of(status);
}

void
sim_child_end(pid_t pid)
{
    (void)kill(-pid, SIGTERM);
    (void)sim_child_wait(pid);
}

/* All that comes out of `fd`; from malloc. */
static char *
read_all(int fd)
{
    size_t used = 0;
    size_t size = 4096;
    char *text = sim_heap_must(malloc(size));
    for (;;) {
        ssize_t got = read(fd, text + used, size - used - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            text[used] = '\0';
            return text;
        }
        used += (size_t)got;
        if (size - used < 2) {
            size *= 2;
            text = sim_heap_resize(text, size, 1);
        }
    }
}

int
sim_child_run(const char *const *arguments, const struct sim_child_setup *setup)
{
    int fds[2] = {-1, -1};
    if (setup->ret_out != NULL && pipe2(fds, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t pid = start(arguments, setup, fds[1]);
    if (setup->ret_out != NULL) {
        (void)close(fds[1]);
        *setup->ret_out = pid > 0 ? read_all(fds[0]) : NULL;
        (void)close(fds[0]);
    }
    return pid > 0 ? sim_child_wait(pid) : -1;
}
