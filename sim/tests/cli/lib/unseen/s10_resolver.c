// SPDX-License-Identifier: Apache-2.0
/* Cause: on_answers() line 86: the flag that saves a write to the eventfd is cleared after the answers were
 * taken; one that is added in between finds it set and rings no one. Repair: clear it before the
 * answers are taken (FIXED, line 72). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define WORKERS 2
#define NAMES 3 /* Each worker. */

struct answer {
    struct answer *next;
    int name;
};

static pthread_mutex_t answers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct answer *answers;
static pthread_mutex_t cache_mutex = PTHREAD_MUTEX_INITIALIZER;
static int cached[WORKERS * NAMES];
static atomic_bool rung;
static int bell;

static void
complete(struct answer *answer)
{
    pthread_mutex_lock(&answers_mutex);
    answer->next = answers;
    answers = answer;
    pthread_mutex_unlock(&answers_mutex);
    if (!atomic_exchange(&rung, true)) {
        uint64_t one = 1;
        if (write(bell, &one, sizeof(one)) != sizeof(one))
            abort();
    }
}

static void *
worker_main(void *argument)
{
    int first = (int)(long)argument * NAMES;
    for (int i = first; i < first + NAMES; i++) {
        struct answer *answer = malloc(sizeof(*answer));
        answer->name = i;
        complete(answer);
    }
    return NULL;
}

static void
remember(struct answer *answer)
{
    pthread_mutex_lock(&cache_mutex);
    cached[answer->name]++;
    pthread_mutex_unlock(&cache_mutex);
    free(answer);
}

/* How many there were. */
static int
on_answers(void)
{
    uint64_t count;
    int handled = 0;
    if (read(bell, &count, sizeof(count)) != sizeof(count))
        return 0;
#ifdef FIXED
    atomic_store(&rung, false);
#endif
    pthread_mutex_lock(&answers_mutex);
    struct answer *list = answers;
    answers = NULL;
    pthread_mutex_unlock(&answers_mutex);
    while (list != NULL) {
        struct answer *next = list->next;
        remember(list);
        list = next;
        handled++;
    }
#ifndef FIXED
    atomic_store(&rung, false); /* Rings count again. */
#endif
    return handled;
}

int
main(void)
{
    pthread_t threads[WORKERS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (epoll < 0 || bell < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event) != 0)
        return 1;
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker_main, (void *)i);
    for (int resolved = 0; resolved < WORKERS * NAMES;) {
        if (epoll_wait(epoll, &event, 1, -1) == 1)
            resolved += on_answers();
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    close(bell);
    close(epoll);
    printf("%d names resolved\n", WORKERS * NAMES);
    return 0;
}
