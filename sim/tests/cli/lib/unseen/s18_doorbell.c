/* Cause: on_signal(), line 38: one signal is taken for one visitor, but two that come before the first is read are one pending signal; repair: let in everyone who stands at the door. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define VISITORS 3

static atomic_int at_the_door;
static int inside;

static void *
visitor(void *argument)
{
    (void)argument;
    atomic_fetch_add(&at_the_door, 1);
    kill(getpid(), SIGUSR1);
    return NULL;
}

static void
let_in(void)
{
    atomic_fetch_sub(&at_the_door, 1);
    inside++;
}

static void
on_signal(int fd)
{
    struct signalfd_siginfo info;
    ssize_t got = read(fd, &info, sizeof info);
    assert(got == sizeof info);
#ifndef FIXED
    if (atomic_load(&at_the_door) > 0) {
#else
    while (atomic_load(&at_the_door) > 0) {
#endif
        let_in();
    }
}

int
main(void)
{
    pthread_t threads[VISITORS];
    sigset_t bell;
    sigemptyset(&bell);
    sigaddset(&bell, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &bell, NULL);
    int fd = signalfd(-1, &bell, 0);
    assert(fd >= 0);
    for (int i = 0; i < VISITORS; i++) {
        pthread_create(&threads[i], NULL, visitor, NULL);
    }
    while (inside < VISITORS) {
        on_signal(fd);
    }
    for (int i = 0; i < VISITORS; i++) {
        pthread_join(threads[i], NULL);
    }
    close(fd);
    printf("%d inside\n", inside);
    return 0;
}
