// Cause: main() makes the event_base without evthread_use_pthreads() before. So event_active() in resolver(), on
// another thread, only queues the event and does not notify the loop, which blocks in epoll_wait forever if it was
// there already. Call evthread_use_pthreads() first.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* libs: -levent -levent_pthreads */
/* A resolver thread answers queries of a libevent loop: it fills the query, and activates the
 * query's event. */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>

#define QUERIES 3

struct query {
    struct event *finished;
    int number;
    int answer;
};

static struct event_base *base;
static struct query queries[QUERIES];
static int answered;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int asked;

static void *
resolver(void *argument)
{
    for (int i = 0; i < QUERIES; i++) {
        pthread_mutex_lock(&lock);
        while (asked <= i) {
            pthread_cond_wait(&arrived, &lock);
        }
        pthread_mutex_unlock(&lock);
        queries[i].answer = 7 * i;
        event_active(queries[i].finished, EV_READ, 1);
    }
    return argument;
}

static void
ask(int number)
{
    pthread_mutex_lock(&lock);
    asked = number + 1;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
}

static void
on_finished(evutil_socket_t fd, short what, void *argument)
{
    struct query *query = argument;
    (void)fd;
    (void)what;
    event_del(query->finished);
    if (++answered < QUERIES) {
        ask(query->number + 1);
    }
}

int
main(void)
{
    pthread_t thread;
#ifdef FIXED
    evthread_use_pthreads();
#endif
    base = event_base_new();
    for (int i = 0; i < QUERIES; i++) {
        queries[i].number = i;
        queries[i].finished = event_new(base, -1, EV_READ | EV_PERSIST, on_finished, &queries[i]);
        event_add(queries[i].finished, NULL);
    }
    pthread_create(&thread, NULL, resolver, NULL);
    ask(0);
    event_base_dispatch(base);
    pthread_join(thread, NULL);
    for (int i = 0; i < QUERIES; i++) {
        event_free(queries[i].finished);
    }
    event_base_free(base);
    printf("%d answered\n", answered);
    return 0;
}
