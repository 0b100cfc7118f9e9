// Cause: t_join.c:72 stop() joins the worker with the lock held that the worker needs to see that it shall stop
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>

struct worker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int running, stop, left, done;
};

static void *run(void *arg)
{
    struct worker *w = arg;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->stop && w->left == 0)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->left == 0)
            break;
        w->left--;
        pthread_mutex_unlock(&w->lock);
        // the work itself needs no lock
        pthread_mutex_lock(&w->lock);
        w->done++;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void start(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    if (!w->running) {
        w->running = 1;
        w->stop = 0;
        pthread_create(&w->thread, NULL, run, w);
    }
    pthread_mutex_unlock(&w->lock);
}

static void add(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->left++;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void drain(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void stop(struct worker *w)
{
    drain(w);
    pthread_mutex_lock(&w->lock);
    if (w->running) {
        w->running = 0;
#ifdef FIXED
        pthread_t thread = w->thread;
        pthread_mutex_unlock(&w->lock);
        pthread_join(thread, NULL);
        return;
#else
        pthread_join(w->thread, NULL);
#endif
    }
    pthread_mutex_unlock(&w->lock);
}

int main(void)
{
    static struct worker w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    start(&w);
    add(&w);
    add(&w);
    stop(&w);
    printf("done %d\n", w.done);
    return w.done == 2 ? 0 : 1;
}
