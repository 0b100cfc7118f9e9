/* Cause: on_idle(), line 73: whether the list is empty is noted before the job runs; a job that adds a follower finds the idle watcher active and leaves it, and then it is stopped because of the old note, with a job in the list; repair: the list is looked at after the job has run. */
/*
 * s16_evjobs.c -- thumbnails are made when the loop is idle: libev, with an async for new pictures.
 *
 * A large picture is a job that adds a second one, for its preview.
 */
#include <assert.h>
#include <ev.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define PICTURES 4

struct job {
    struct job *next;
    unsigned size; /* Above 1: large. */
};

struct maker {
    struct ev_loop *loop;
    ev_async arrived;
    ev_idle idle;
    pthread_mutex_t mutex;
    struct job *inbox; /* From the other thread, the newest first. */
    struct job *first;
    struct job **last;
    unsigned made;
};

static struct maker maker = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
add_job(struct ev_loop *loop, struct job *job)
{
    job->next = NULL;
    *maker.last = job;
    maker.last = &job->next;
    ev_idle_start(loop, &maker.idle); /* Active already: no-op. */
}

static struct job *
new_job(unsigned size)
{
    struct job *job = malloc(sizeof *job);
    job->size = size;
    return job;
}

static void
run_job(struct ev_loop *loop, struct job *job)
{
    maker.made++;
    if (job->size > 1) {
        add_job(loop, new_job(1));
    }
    free(job);
    if (maker.made == PICTURES + PICTURES / 2) {
        ev_break(loop, EVBREAK_ALL);
    }
}

/* One job at a time, so that events are served in between. */
static void
on_idle(struct ev_loop *loop, ev_idle *idle, int events)
{
    struct job *job = maker.first;
    (void)events;
    maker.first = job->next;
    if (maker.first == NULL) {
        maker.last = &maker.first;
    }
    int was_last = maker.first == NULL;
    run_job(loop, job);
#ifdef FIXED
    was_last = maker.first == NULL;
#endif
    if (was_last) {
        ev_idle_stop(loop, idle);
    }
}

static void
on_arrived(struct ev_loop *loop, ev_async *async, int events)
{
    (void)async;
    (void)events;
    pthread_mutex_lock(&maker.mutex);
    struct job *list = maker.inbox;
    maker.inbox = NULL;
    pthread_mutex_unlock(&maker.mutex);
    while (list != NULL) {
        struct job *job = list;
        list = job->next;
        add_job(loop, job);
    }
}

static void *
camera_main(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < PICTURES; i++) {
        struct job *job = new_job(i < PICTURES / 2 ? 2 : 1);
        pthread_mutex_lock(&maker.mutex);
        job->next = maker.inbox;
        maker.inbox = job;
        pthread_mutex_unlock(&maker.mutex);
        ev_async_send(maker.loop, &maker.arrived);
        if (i % 2 == 1) {
            usleep(1000);
        }
    }
    return NULL;
}

int
main(void)
{
    pthread_t camera;
    maker.loop = ev_default_loop(0);
    maker.last = &maker.first;
    ev_async_init(&maker.arrived, on_arrived);
    ev_async_start(maker.loop, &maker.arrived);
    ev_idle_init(&maker.idle, on_idle);
    pthread_create(&camera, NULL, camera_main, NULL);
    ev_run(maker.loop, 0);
    pthread_join(camera, NULL);
    assert(maker.made == PICTURES + PICTURES / 2 && maker.first == NULL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
