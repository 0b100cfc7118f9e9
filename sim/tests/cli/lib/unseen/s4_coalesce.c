// Cause: s4_coalesce.c:75 the flag "a notification is under way" is cleared after the list was taken, so that what is added in between finds the flag set, writes nothing to the eventfd, and is never taken.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Messages to an event loop. Many messages share one notification. */

enum { PRODUCERS = 2, MESSAGES = 5 };

struct message {
    struct message *next;
    int number;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct message *inbox;
static atomic_bool notified;
static int wakeup;

static void post(int number)
{
    struct message *message = malloc(sizeof *message);
    assert(message);
    message->number = number;
    pthread_mutex_lock(&mutex);
    message->next = inbox;
    inbox = message;
    pthread_mutex_unlock(&mutex);
    if (!atomic_exchange(&notified, true)) {
        uint64_t one = 1;
        ssize_t written = write(wakeup, &one, sizeof one);
        assert(written == sizeof one);
    }
}

static void *producer(void *argument)
{
    int id = *(int *)argument;
    for (int i = 1; i <= MESSAGES; i++) {
        usleep(id ? 400 : 700);
        post(i);
    }
    return NULL;
}

static struct message *take_all(void)
{
    pthread_mutex_lock(&mutex);
    struct message *all = inbox;
    inbox = NULL;
    pthread_mutex_unlock(&mutex);
    return all;
}

static int on_wakeup(void)
{
    uint64_t count;
    if (read(wakeup, &count, sizeof count) != sizeof count)
        return 0;
#ifdef FIXED
    atomic_store(&notified, false);
    struct message *message = take_all();
#else
    struct message *message = take_all();
    atomic_store(&notified, false);
#endif
    int sum = 0;
    while (message) {
        struct message *next = message->next;
        sum += message->number;
        usleep(100);
        free(message);
        message = next;
    }
    return sum;
}

int main(void)
{
    int ids[PRODUCERS] = {0, 1};
    pthread_t threads[PRODUCERS];
    wakeup = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = wakeup};
    int result = epoll_ctl(epoll, EPOLL_CTL_ADD, wakeup, &event);
    assert(result == 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, producer, &ids[i]);
    int sum = 0;
    while (sum < PRODUCERS * MESSAGES * (MESSAGES + 1) / 2)
        if (epoll_wait(epoll, &event, 1, -1) == 1)
            sum += on_wakeup();
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    printf("sum %d\n", sum);
    return 0;
}
