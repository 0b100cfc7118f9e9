/*
 * s11_checkout.c -- a small report server: request threads share two database sessions, and some
 * give up a checkout after a while. Sessions are handed out in the order of the requests.
 *
 * Cause: store_checkout() (line 90) returns without a session when its time is over, although one has been handed to it since
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SESSIONS 2
#define REQUESTS 3

struct session {
    int queries;
    struct session *next;
};

struct applicant {
    pthread_cond_t granted;
    struct session *session;
    struct applicant *next;
    int queued;
};

struct store {
    pthread_mutex_t mutex;
    struct session *idle;
    struct applicant *first, **end;
};

static struct store store = {.mutex = PTHREAD_MUTEX_INITIALIZER, .end = &store.first};
static struct session sessions[SESSIONS];

static void
queue_append(struct applicant *applicant)
{
    applicant->next = NULL;
    applicant->queued = 1;
    *store.end = applicant;
    store.end = &applicant->next;
}

static void
queue_remove(struct applicant *applicant)
{
    for (struct applicant **at = &store.first; *at != NULL; at = &(*at)->next) {
        if (*at == applicant) {
            *at = applicant->next;
            if (applicant->next == NULL) {
                store.end = at;
            }
            applicant->queued = 0;
            return;
        }
    }
}

static struct timespec
from_now(long ms)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    long ns = at.tv_nsec + ms * 1000000;
    return (struct timespec){at.tv_sec + ns / 1000000000, ns % 1000000000};
}

/* A session, or NULL after `ms`; 0: however long it takes. */
static struct session *
store_checkout(long ms)
{
    struct timespec limit = from_now(ms);
    struct applicant self = {.granted = PTHREAD_COND_INITIALIZER};
    pthread_mutex_lock(&store.mutex);
    if (store.idle != NULL && store.first == NULL) {
        self.session = store.idle;
        store.idle = self.session->next;
    } else {
        int err = 0;
        queue_append(&self);
        while (self.session == NULL && err != ETIMEDOUT) {
            err = ms == 0 ? pthread_cond_wait(&self.granted, &store.mutex)
                          : pthread_cond_timedwait(&self.granted, &store.mutex, &limit);
        }
#ifdef FIXED
        if (self.session == NULL) {
#else
        if (err == ETIMEDOUT) {
#endif
            if (self.queued) {
                queue_remove(&self);
            }
            pthread_mutex_unlock(&store.mutex);
            pthread_cond_destroy(&self.granted);
            return NULL;
        }
    }
    pthread_mutex_unlock(&store.mutex);
    pthread_cond_destroy(&self.granted);
    return self.session;
}

static void
store_return(struct session *session)
{
    pthread_mutex_lock(&store.mutex);
    struct applicant *next = store.first;
    if (next != NULL) {
        queue_remove(next);
        next->session = session;
        pthread_cond_signal(&next->granted);
    } else {
        session->next = store.idle;
        store.idle = session;
    }
    pthread_mutex_unlock(&store.mutex);
}

static void *
request_main(void *argument)
{
    long patience = (long)argument;
    for (int round = 0; round < 2; round++) {
        struct session *session = store_checkout(patience);
        if (session != NULL) {
            session->queries++;
            usleep(6000);
            store_return(session);
        }
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[REQUESTS + 1];
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i].next = store.idle;
        store.idle = &sessions[i];
    }
    for (long i = 0; i <= REQUESTS; i++) {
        pthread_create(&threads[i], NULL, request_main, (void *)(i < REQUESTS ? 5 + i : 0));
    }
    for (int i = 0; i <= REQUESTS; i++) {
        pthread_join(threads[i], NULL);
    }
    /* The nightly report wants both. */
    struct session *a = store_checkout(0);
    struct session *b = store_checkout(0);
    printf("%d queries\n", a->queries + b->queries);
    store_return(a);
    store_return(b);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
