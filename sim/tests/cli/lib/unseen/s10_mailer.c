// SPDX-License-Identifier: Apache-2.0
/* libs: -levent -levent_pthreads */
/* Cause: main() line 66: the base is made before evthread_use_pthreads(), so it has neither a lock nor a way to
 * be notified: event_active() by another thread does not end its epoll_wait(). Repair: call
 * evthread_use_pthreads() first (FIXED). */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LETTERS 3

struct letter {
    struct letter *next;
    int number;
};

static pthread_mutex_t sent_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct letter *sent;
static struct event_base *base;
static struct event *reports;
static int reported;

static void
on_report(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    pthread_mutex_lock(&sent_mutex);
    struct letter *list = sent;
    sent = NULL;
    pthread_mutex_unlock(&sent_mutex);
    while (list != NULL) {
        struct letter *next = list->next;
        free(list);
        list = next;
        reported++;
    }
    if (reported == LETTERS)
        event_base_loopbreak(base);
}

/* Hands the letters to the post office, which takes its time. */
static void *
sender_main(void *argument)
{
    for (int i = 0; i < LETTERS; i++) {
        struct letter *letter = malloc(sizeof(*letter));
        letter->number = i;
        pthread_mutex_lock(&sent_mutex);
        letter->next = sent;
        sent = letter;
        pthread_mutex_unlock(&sent_mutex);
        event_active(reports, EV_READ, 0);
    }
    return argument;
}

int
main(void)
{
    pthread_t sender;
#ifdef FIXED
    evthread_use_pthreads();
    base = event_base_new();
#else
    base = event_base_new();
    evthread_use_pthreads();
#endif
    reports = event_new(base, -1, EV_PERSIST, on_report, NULL);
    event_add(reports, NULL);
    pthread_create(&sender, NULL, sender_main, NULL);
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    pthread_join(sender, NULL);
    printf("%d letters\n", reported);
    event_free(reports);
    event_base_free(base);
    return reported == LETTERS ? 0 : 1;
}
