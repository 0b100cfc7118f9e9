// Cause: t2_keepalive.c:89 timer_cancel_sync waits for the running callback with session->lock held, and the callback takes this lock
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

struct timer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool armed, running, quit;
    void (*callback)(void *);
    void *argument;
};

struct session {
    pthread_mutex_t lock;
    bool open;
    int pings;
    struct timer keepalive;
};

static void *timer_thread(void *argument)
{
    struct timer *t = argument;
    pthread_mutex_lock(&t->lock);
    while (!t->quit) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += 1000000;
        if (at.tv_nsec >= 1000000000) {
            at.tv_sec++;
            at.tv_nsec -= 1000000000;
        }
        if (!t->armed) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        if (pthread_cond_timedwait(&t->changed, &t->lock, &at) != ETIMEDOUT || !t->armed)
            continue;
        t->running = true;
        pthread_mutex_unlock(&t->lock);
        t->callback(t->argument);
        pthread_mutex_lock(&t->lock);
        t->running = false;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

// When this returns the callback does not run, and will not.
static void timer_cancel_sync(struct timer *t)
{
    pthread_mutex_lock(&t->lock);
    t->armed = false;
    while (t->running)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static void timer_quit(struct timer *t)
{
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void ping(void *argument)
{
    struct session *s = argument;
    pthread_mutex_lock(&s->lock);
    if (s->open)
        s->pings++;
    pthread_mutex_unlock(&s->lock);
}

static void session_close(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->open = false;
#ifdef FIXED
    pthread_mutex_unlock(&s->lock);
    timer_cancel_sync(&s->keepalive);
#else
    timer_cancel_sync(&s->keepalive);
    pthread_mutex_unlock(&s->lock);
#endif
}

int main(void)
{
    struct session s = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = true};
    s.keepalive = (struct timer){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                 .armed = true, .callback = ping, .argument = &s};
    pthread_t thread;
    pthread_create(&thread, NULL, timer_thread, &s.keepalive);
    usleep(3000); // the work of this session
    session_close(&s);
    timer_quit(&s.keepalive);
    pthread_join(thread, NULL);
    return 0;
}
