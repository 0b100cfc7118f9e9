// Cause: l_ev.c:63 the callback takes the list first and clears `scheduled` later: a task that is added in between sends nothing
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <ev.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2
#define TASKS 2

struct task {
    struct task *next;
    int weight;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct task *tasks;
static int scheduled, finished, weight;
static struct ev_loop *loop;
static ev_async wake;

static void submit(int weight)
{
    struct task *t = malloc(sizeof *t);
    t->weight = weight;
    pthread_mutex_lock(&lock);
    t->next = tasks;
    tasks = t;
    if (!scheduled) {
        scheduled = 1;
        ev_async_send(loop, &wake);
    }
    pthread_mutex_unlock(&lock);
}

static struct task *take(void)
{
    pthread_mutex_lock(&lock);
    struct task *all = tasks;
    tasks = NULL;
#ifdef FIXED
    scheduled = 0;
#endif
    pthread_mutex_unlock(&lock);
    return all;
}

static void on_wake(struct ev_loop *l, ev_async *w, int events)
{
    (void)events;
    for (struct task *t = take(), *next; t; t = next) {
        next = t->next;
        weight += t->weight;
        free(t);
        if (++finished == THREADS * TASKS) {
            ev_async_stop(l, w);
            ev_break(l, EVBREAK_ALL);
        }
    }
#ifndef FIXED
    pthread_mutex_lock(&lock);
    scheduled = 0;
    pthread_mutex_unlock(&lock);
#endif
}

static void *client(void *arg)
{
    for (int i = 0; i < TASKS; i++)
        submit(i + 1);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    loop = ev_loop_new(EVBACKEND_EPOLL);
    ev_async_init(&wake, on_wake);
    ev_async_start(loop, &wake);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, client, NULL);
    ev_run(loop, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("weight %d\n", weight);
    ev_loop_destroy(loop);
    return 0;
}
