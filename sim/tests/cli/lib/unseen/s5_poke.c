// Cause: s5_poke.c:94 the loop clears the pending flag after it has emptied the queue: a producer that queues a job in between finds the flag set and does not write to the eventfd, so the loop sleeps with a job in the queue and nobody pokes it again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PRODUCERS 2
#define EACH 4

struct job {
    struct job *next;
    int cost;
};

static struct {
    pthread_mutex_t lock;
    struct job *head, **tail;
    atomic_bool pending; /* a poke is on its way: no second one needed */
    int bell;
} inbox = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void inbox_put(int cost)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        abort();
    job->next = NULL;
    job->cost = cost;
    pthread_mutex_lock(&inbox.lock);
    *inbox.tail = job;
    inbox.tail = &job->next;
    pthread_mutex_unlock(&inbox.lock);
    if (!atomic_exchange(&inbox.pending, true)) {
        uint64_t one = 1;
        while (write(inbox.bell, &one, sizeof one) < 0 && errno == EINTR)
            continue;
    }
}

static struct job *inbox_take_all(void)
{
    pthread_mutex_lock(&inbox.lock);
    struct job *all = inbox.head;
    inbox.head = NULL;
    inbox.tail = &inbox.head;
    pthread_mutex_unlock(&inbox.lock);
    return all;
}

static void *producer(void *arg)
{
    for (int i = 0; i < EACH; i++)
        inbox_put(i + 1);
    return arg;
}

int main(void)
{
    pthread_t threads[PRODUCERS];
    int left = PRODUCERS * EACH, cost = 0, epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    inbox.tail = &inbox.head;
    inbox.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (epoll < 0 || inbox.bell < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, inbox.bell, &event) < 0)
        return 1;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, NULL);
    while (left > 0) {
        uint64_t count;
        if (epoll_wait(epoll, &event, 1, -1) < 1)
            continue;
        if (read(inbox.bell, &count, sizeof count) < 0 && errno == EINTR)
            continue;
#ifdef FIXED
        atomic_store(&inbox.pending, false);
#endif
        for (struct job *job = inbox_take_all(); job;) {
            struct job *next = job->next;
            cost += job->cost;
            left--;
            free(job);
            job = next;
        }
#ifndef FIXED
        atomic_store(&inbox.pending, false);
#endif
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    printf("cost %d\n", cost);
    close(inbox.bell);
    close(epoll);
    return 0;
}
