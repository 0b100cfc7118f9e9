// Cause: d_sigpoll.c:35 reload is tested before poll() with SIGUSR1 not blocked: a signal in between does not end the poll
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t reload;
static int control[2];

static void on_usr1(int number)
{
    (void)number;
    reload = 1;
}

static void *admin(void *arg)
{
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

static int wait_for_work(void)
{
    struct pollfd p = {.fd = control[0], .events = POLLIN};
#ifdef FIXED
    sigset_t none;
    sigemptyset(&none);
    return ppoll(&p, 1, NULL, &none);
#else
    return poll(&p, 1, -1);
#endif
}

int main(void)
{
    pthread_t t, self = pthread_self();
    struct sigaction a = {.sa_handler = on_usr1};
    sigset_t usr1;
    int reloads = 0;
    if (pipe(control))
        return 1;
    sigemptyset(&a.sa_mask);
    sigaction(SIGUSR1, &a, NULL);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    pthread_create(&t, NULL, admin, &self);
#ifndef FIXED
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
#endif
    while (reloads == 0) {
        if (reload) {
            reload = 0;
            reloads++;
            continue;
        }
        if (wait_for_work() > 0) {
            char c;
            if (read(control[0], &c, 1) == 1)
                break;
        }
    }
    pthread_join(t, NULL);
    printf("reloads %d\n", reloads);
    return 0;
}
