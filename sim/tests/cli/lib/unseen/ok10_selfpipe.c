// SPDX-License-Identifier: Apache-2.0
/*
 * Signals as events: the handlers write to a pipe that never blocks. Where it is full the byte is not
 * needed, as the loop is woken anyway, and the counts are in variables.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int wake[2];
static atomic_int ticks;
static atomic_int stops;
static pthread_t loop;

static void
on_signal(int number)
{
    int error = errno;
    if (number == SIGALRM)
        atomic_fetch_add(&ticks, 1);
    else
        atomic_fetch_add(&stops, 1);
    if (write(wake[1], "!", 1) != 1)
        errno = EAGAIN; /* It is full. */
    errno = error;
}

static void
drain(void)
{
    char bytes[16];
    while (read(wake[0], bytes, sizeof(bytes)) > 0)
        continue;
}

static void *
stop_main(void *argument)
{
    for (int i = 0; i < 3; i++)
        pthread_kill(loop, SIGALRM);
    usleep(3000);
    pthread_kill(loop, SIGTERM);
    return argument;
}

int
main(void)
{
    pthread_t stopper;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t both;
    struct pollfd fd;
    if (pipe2(wake, O_NONBLOCK | O_CLOEXEC) != 0)
        return 1;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigemptyset(&both);
    sigaddset(&both, SIGALRM);
    sigaddset(&both, SIGTERM);
    loop = pthread_self();
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    if (pthread_create(&stopper, NULL, stop_main, NULL) != 0)
        return 1;
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    int seen = 0;
    for (;;) {
        fd = (struct pollfd){.fd = wake[0], .events = POLLIN};
        if (poll(&fd, 1, -1) < 0 && errno != EINTR)
            return 1;
        drain();
        int now = atomic_load(&ticks);
        if (now > seen)
            seen = now;
        if (atomic_load(&stops) > 0)
            break;
    }
    pthread_join(stopper, NULL);
    /* Equal signals that are pending together are one. */
    printf("%s\n", seen >= 1 && seen <= 3 ? "ticked" : "odd");
    return seen >= 1 && seen <= 3 ? 0 : 1;
}
