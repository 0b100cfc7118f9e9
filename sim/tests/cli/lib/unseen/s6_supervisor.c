// Cause: s6_supervisor.c:83 the supervisor counts one finished worker for each signal that it reads, but SIGUSR1 does not queue: two workers that finish before it reads leave one signal, so the count never becomes complete.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define WORKERS 4

struct worker {
    pthread_t thread;
    int number;
    atomic_int finished;
    int counted;
};

static struct worker workers[WORKERS];
static int log_pipe[2];

static void *work(void *argument)
{
    struct worker *worker = argument;
    char line = (char)('0' + worker->number);
    usleep((useconds_t)(300 * (worker->number % 2)));
    while (write(log_pipe[1], &line, 1) < 0 && errno == EINTR)
        ;
    atomic_store(&worker->finished, 1);
    kill(getpid(), SIGUSR1);
    return NULL;
}

/* Workers that have finished and were not counted yet. */
static int count_finished(void)
{
    int count = 0;
    for (int i = 0; i < WORKERS; i++) {
        if (!workers[i].counted && atomic_load(&workers[i].finished)) {
            workers[i].counted = 1;
            count++;
        }
    }
    return count;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 || pipe(log_pipe) != 0 ||
            fcntl(log_pipe[0], F_SETFL, O_NONBLOCK) != 0)
        return 1;
    int signals = signalfd(-1, &set, SFD_NONBLOCK);
    if (signals < 0)
        return 1;
    for (int i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    int finished = 0;
    int logged = 0;
    while (finished < WORKERS || logged < WORKERS) {
        struct pollfd fds[2] = {{.fd = signals, .events = POLLIN},
                {.fd = log_pipe[0], .events = POLLIN}};
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents & POLLIN) {
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
#ifdef FIXED
                finished += count_finished();
#else
                finished++;
#endif
            }
        }
        if (fds[1].revents & POLLIN) {
            char lines[WORKERS];
            ssize_t n = read(log_pipe[0], lines, sizeof lines);
            logged += n > 0 ? (int)n : 0;
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%d finished, %d left\n", finished, count_finished());
    return 0;
}
