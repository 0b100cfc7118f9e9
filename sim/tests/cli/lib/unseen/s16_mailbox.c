/* Cause: drain(), line 100: the mark `notified` is cleared after the queue was emptied; a message that is posted in between finds the mark set and writes no eventfd, and the loop sleeps with a message in its queue; repair: the mark is cleared before the queue is taken. */
/*
 * s16_mailbox.c -- an event loop with a mailbox: epoll, and an eventfd that is written once a burst.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SENDERS 2
#define MESSAGES 3

struct message {
    struct message *next;
    int amount;
};

struct loop {
    int epoll;
    int wakeup;
    atomic_bool notified; /* The eventfd was written, and is not served yet. */
    pthread_mutex_t mutex;
    struct message *first;
    struct message **last;
    int received;
    int total;
};

static void
loop_init(struct loop *loop)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&loop->mutex, NULL);
    loop->last = &loop->first;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = loop->wakeup};
    int rc = epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wakeup, &event);
    assert(rc == 0);
}

/* Any thread. */
static void
post(struct loop *loop, int amount)
{
    struct message *message = malloc(sizeof *message);
    message->next = NULL;
    message->amount = amount;
    pthread_mutex_lock(&loop->mutex);
    *loop->last = message;
    loop->last = &message->next;
    pthread_mutex_unlock(&loop->mutex);
    if (!atomic_exchange(&loop->notified, true)) {
        uint64_t one = 1;
        ssize_t n = write(loop->wakeup, &one, sizeof one);
        assert(n == sizeof one);
    }
}

static struct message *
take_all(struct loop *loop)
{
    pthread_mutex_lock(&loop->mutex);
    struct message *list = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    pthread_mutex_unlock(&loop->mutex);
    return list;
}

static void
handle(struct loop *loop, const struct message *message)
{
    loop->total += message->amount;
    loop->received++;
}

/* The eventfd is readable. */
static void
drain(struct loop *loop)
{
    uint64_t count;
    ssize_t n = read(loop->wakeup, &count, sizeof count);
    (void)n;
#ifdef FIXED
    atomic_store(&loop->notified, false);
#endif
    struct message *list = take_all(loop);
    while (list != NULL) {
        struct message *message = list;
        list = message->next;
        handle(loop, message);
        free(message);
    }
#ifndef FIXED
    atomic_store(&loop->notified, false);
#endif
}

static void *
loop_main(void *argument)
{
    struct loop *loop = argument;
    while (loop->received < SENDERS * MESSAGES) {
        struct epoll_event events[4];
        int n = epoll_wait(loop->epoll, events, 4, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == loop->wakeup) {
                drain(loop);
            }
        }
    }
    return NULL;
}

static void *
sender(void *argument)
{
    for (int i = 1; i <= MESSAGES; i++) {
        post(argument, i);
        usleep(300);
    }
    return NULL;
}

int
main(void)
{
    static struct loop loop;
    pthread_t running;
    pthread_t senders[SENDERS];
    loop_init(&loop);
    pthread_create(&running, NULL, loop_main, &loop);
    for (int i = 0; i < SENDERS; i++) {
        pthread_create(&senders[i], NULL, sender, &loop);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i], NULL);
    }
    pthread_join(running, NULL);
    assert(loop.total == SENDERS * MESSAGES * (MESSAGES + 1) / 2);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
