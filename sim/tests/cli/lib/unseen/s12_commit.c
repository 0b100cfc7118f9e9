/*
 * Group commit: clients append records, and one of them at a time writes out what all have appended.
 * Cause: commit_wait() (line 91) leaves on its time-out without a look at `writer`, which commit_pass() may have given it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct client {
    struct client *next;
    pthread_cond_t turn;
    unsigned long record;
    bool writer;
};

static struct journal {
    pthread_mutex_t lock;
    struct client *head, **tail;
    unsigned long appended, durable;
    bool writing;
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER, .tail = &journal.head};

static void enqueue(struct journal *j, struct client *c)
{
    c->next = NULL;
    *j->tail = c;
    j->tail = &c->next;
}

static void dequeue(struct journal *j, struct client *c)
{
    struct client **at = &j->head;
    while (*at != NULL && *at != c)
        at = &(*at)->next;
    if (*at == c) {
        *at = c->next;
        if (j->tail == &c->next)
            j->tail = at;
    }
}

/* Those that are done continue; the first of the others writes next. */
static void commit_pass(struct journal *j)
{
    struct client *c, *next;
    struct client *successor = NULL;
    for (c = j->head; c != NULL; c = next) {
        next = c->next;
        if (c->record <= j->durable) {
            dequeue(j, c);
            pthread_cond_signal(&c->turn);
        } else if (successor == NULL) {
            successor = c;
        }
    }
    j->writing = successor != NULL;
    if (successor != NULL) {
        dequeue(j, successor);
        successor->writer = true;
        pthread_cond_signal(&successor->turn);
    }
}

static void write_out(struct journal *j)
{
    unsigned long upto = j->appended;
    pthread_mutex_unlock(&j->lock);
    usleep(3000);
    pthread_mutex_lock(&j->lock);
    if (upto > j->durable)
        j->durable = upto;
    commit_pass(j);
}

static int commit_wait(struct journal *j, struct client *c, const struct timespec *until)
{
    enqueue(j, c);
    while (c->record > j->durable && !c->writer) {
        int err = until ? pthread_cond_timedwait(&c->turn, &j->lock, until)
                        : pthread_cond_wait(&c->turn, &j->lock);
        if (err == ETIMEDOUT) {
#ifdef FIXED
            if (c->writer)
                break;
#endif
            dequeue(j, c);
            return ETIMEDOUT;
        }
    }
    if (c->writer)
        write_out(j);
    return 0;
}

static int commit(struct journal *j, long patience_ms)
{
    struct client c = {.turn = PTHREAD_COND_INITIALIZER};
    struct timespec until;
    int err = 0;
    if (patience_ms > 0) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += patience_ms * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
    }
    pthread_mutex_lock(&j->lock);
    c.record = ++j->appended;
    if (!j->writing) {
        j->writing = true;
        write_out(j);
    } else {
        err = commit_wait(j, &c, patience_ms > 0 ? &until : NULL);
    }
    pthread_mutex_unlock(&j->lock);
    pthread_cond_destroy(&c.turn);
    return err;
}

static void *session(void *argument)
{
    long patience = (long)argument;
    int late = 0;
    for (int i = 0; i < 3; i++)
        late += commit(&journal, patience) == ETIMEDOUT;
    return (void *)(long)late;
}

int main(void)
{
    static const long patience[] = {0, 4, 0};
    pthread_t threads[3];
    long late = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, session, (void *)patience[i]);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        late += (long)result;
    }
    printf("%lu records, %ld late\n", journal.appended, late);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
