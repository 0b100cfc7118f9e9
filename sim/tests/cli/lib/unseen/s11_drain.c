/*
 * s11_drain.c -- a spooler: an event loop starts jobs on threads and collects them by a pipe; on
 * SIGTERM it takes no more, lets the running ones finish, and ends.
 *
 * Cause: on_signal() (line 93) only notes that the spooler ends, and nobody looks at that when no job is running
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define JOBS_MAX 2

struct job {
    int number;
    int pages;
    int report; /* Where its end is written to. */
};

struct spooler {
    int poller;
    int requests[2]; /* Pipes. */
    int reports[2];
    int signals;
    int running;
    int finished, refused;
    bool draining;
    bool ended;
};

static void *
job_main(void *argument)
{
    struct job *job = argument;
    usleep(job->pages * 1000);
    if (write(job->report, &job->number, sizeof job->number) < 0) {
        perror("report");
    }
    free(job);
    return NULL;
}

static void
watch(struct spooler *spooler, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(spooler->poller, EPOLL_CTL_ADD, fd, &event);
}

static void
on_request(struct spooler *spooler)
{
    int pages;
    while (read(spooler->requests[0], &pages, sizeof pages) == sizeof pages) {
        if (spooler->draining || spooler->running == JOBS_MAX) {
            spooler->refused++;
            continue;
        }
        pthread_t thread;
        struct job *job = malloc(sizeof *job);
        *job = (struct job){spooler->finished + spooler->running, pages, spooler->reports[1]};
        pthread_create(&thread, NULL, job_main, job);
        pthread_detach(thread);
        spooler->running++;
    }
}

static void
on_report(struct spooler *spooler)
{
    int number;
    while (read(spooler->reports[0], &number, sizeof number) == sizeof number) {
        spooler->running--;
        spooler->finished++;
    }
    if (spooler->draining && spooler->running == 0) {
        spooler->ended = true;
    }
}

static void
on_signal(struct spooler *spooler)
{
    struct signalfd_siginfo info;
    while (read(spooler->signals, &info, sizeof info) == sizeof info) {
        spooler->draining = true;
    }
#ifdef FIXED
    spooler->ended = spooler->draining && spooler->running == 0;
#endif
}

static void *
spooler_main(void *argument)
{
    struct spooler *spooler = argument;
    while (!spooler->ended) {
        struct epoll_event events[4];
        int count = epoll_wait(spooler->poller, events, 4, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == spooler->signals) {
                on_signal(spooler);
            } else if (events[i].data.fd == spooler->requests[0]) {
                on_request(spooler);
            } else {
                on_report(spooler);
            }
        }
    }
    return NULL;
}

int
main(void)
{
    struct spooler spooler = {.poller = epoll_create1(0)};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    spooler.signals = signalfd(-1, &set, SFD_NONBLOCK);
    if (pipe2(spooler.requests, O_NONBLOCK) != 0 || pipe2(spooler.reports, O_NONBLOCK) != 0) {
        return 1;
    }
    watch(&spooler, spooler.signals);
    watch(&spooler, spooler.requests[0]);
    watch(&spooler, spooler.reports[0]);
    pthread_t loop;
    pthread_create(&loop, NULL, spooler_main, &spooler);
    for (int pages = 1; pages <= 3; pages++) {
        if (write(spooler.requests[1], &pages, sizeof pages) < 0) {
            perror("request");
        }
        usleep(500);
    }
    kill(getpid(), SIGTERM);
    pthread_join(loop, NULL);
    printf("%d jobs, %d refused\n", spooler.finished, spooler.refused);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
