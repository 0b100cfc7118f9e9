/* f_signals.c -- counts one worker for each signal that it reads, and two are pending as one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void *
work(void *pause)
{
    usleep(*(unsigned *)pause);
    kill(getpid(), SIGUSR2);
    return NULL;
}

static void
wait_for_all(int epoll, int signals)
{
    struct signalfd_siginfo info;
    struct epoll_event event;
    for (int ended = 0; ended < 3;) {
        if (epoll_wait(epoll, &event, 1, -1) != 1) {
            continue;
        }
        if (read(signals, &info, sizeof(info)) == sizeof(info)) {
            ended++;
        }
    }
}

int
main(void)
{
    static unsigned pauses[3] = {100, 200, 200};
    pthread_t threads[3];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_NONBLOCK);
    int epoll = epoll_create1(0);
    struct epoll_event in = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &in);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, &pauses[i]);
    }
    wait_for_all(epoll, signals);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
