/*
 * timed.c -- a consumer that waits with a time-out, and whose doorbell may be lost: then it has the
 * item when its own time is over. Its argument names what it waits in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int items;
static atomic_int asleep;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rung = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int bell;
static int set;
static atomic_int word;

static struct timespec
in_10_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += 10000000;
    now.tv_sec += now.tv_nsec / 1000000000;
    now.tv_nsec %= 1000000000;
    return now;
}
static void
wait_condvar(void)
{
    struct timespec until = in_10_ms();
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&rung, &m, &until); /* condvar */
    pthread_mutex_unlock(&m);
}
static void
wait_semaphore(void)
{
    struct timespec until = in_10_ms();
    sem_timedwait(&sem, &until);
}
static void
wait_futex(void)
{
    struct timespec time = {0, 10000000};
    syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0);
}
static void
wait_poll(void)
{
    struct pollfd fd = {.fd = bell, .events = POLLIN};
    poll(&fd, 1, 10);
}
static void
wait_epoll(void)
{
    struct epoll_event event;
    epoll_wait(set, &event, 1, 10);
}
static void
wait_select(void)
{
    fd_set in;
    struct timeval time = {0, 10000};
    FD_ZERO(&in);
    FD_SET(bell, &in);
    select(bell + 1, &in, NULL, NULL, &time);
}
static void
ring(void)
{
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_cond_signal(&rung);
    sem_post(&sem);
    eventfd_write(bell, 1);
}
static const struct {
    const char *name;
    void (*wait)(void);
} ways[] = {{"condvar", wait_condvar}, {"semaphore", wait_semaphore}, {"futex", wait_futex},
        {"poll", wait_poll}, {"epoll", wait_epoll}, {"select", wait_select}};
static void (*wait_for_it)(void);

static void *
consumer(void *a)
{
    while (atomic_load(&items) == 0) {
        atomic_store(&asleep, 1);
        wait_for_it();
        atomic_store(&asleep, 0);
    }
    puts("consumed");
    return a;
}
/* It looks whether the consumer sleeps, before it has put the item there: the bell may be lost. */
static void *
producer(void *a)
{
    int sleeps = atomic_load(&asleep);
    atomic_store(&items, 1);
    if (sleeps) {
        ring();
    }
    return a;
}
int
main(int count, char **arguments)
{
    pthread_t a, b;
    struct epoll_event in = {.events = EPOLLIN};
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        wait_for_it = strcmp(ways[i].name, arguments[1]) == 0 ? ways[i].wait : wait_for_it;
    }
    sem_init(&sem, 0, 0);
    bell = eventfd(0, EFD_NONBLOCK);
    set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, bell, &in);
    pthread_create(&a, NULL, consumer, NULL);
    pthread_create(&b, NULL, producer, NULL);
    pthread_join(b, NULL);
    pthread_join(a, NULL);
    return 0;
}
