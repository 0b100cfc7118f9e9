/*
 * bell.c -- an eventfd doorbell whose flag is cleared after the jobs are taken.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_int jobs, signalled;
static int bell;
static void *
ring(void *a)
{
    for (int i = 0; i < 2; i++) {
        atomic_fetch_add(&jobs, 1);
        if (!atomic_exchange(&signalled, 1)) {
            uint64_t one = 1;
            (void)!write(bell, &one, sizeof(one));
        }
    }
    return a;
}
int
main(void)
{
    pthread_t thread;
    int done = 0;
    bell = eventfd(0, EFD_NONBLOCK);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = bell};
    epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event);
    pthread_create(&thread, NULL, ring, NULL);
    while (done < 2) {
        uint64_t count;
        epoll_wait(epoll, &event, 1, -1);
        (void)!read(bell, &count, sizeof(count));
        done += atomic_exchange(&jobs, 0);
        atomic_store(&signalled, 0); /* Must come before the jobs are taken. */
    }
    pthread_join(thread, NULL);
    return 0;
}
