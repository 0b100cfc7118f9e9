// Cause: l1_event.c:59 the base is made without evthread_use_pthreads(), so event_active of another thread does not wake the loop
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
    pthread_t thread;
    struct event *done;
    unsigned number;
    unsigned char data[2000];
    unsigned sum;
};

struct server {
    struct event_base *base;
    int pending;
};

static void *checksum(void *argument)
{
    struct job *j = argument;
    for (size_t i = 0; i < sizeof j->data; i++)
        j->data[i] = (unsigned char)(i * j->number);
    for (size_t i = 0; i < sizeof j->data; i++)
        j->sum = j->sum * 31 + j->data[i];
    event_active(j->done, EV_TIMEOUT, 0);
    return NULL;
}

static void job_done(evutil_socket_t fd, short what, void *argument)
{
    struct server *s = argument;
    (void)fd, (void)what;
    if (--s->pending == 0)
        event_base_loopbreak(s->base);
}

static struct job *job_start(struct server *s, unsigned number)
{
    struct job *j = calloc(1, sizeof *j);
    j->number = number;
    j->done = event_new(s->base, -1, EV_PERSIST, job_done, s);
    s->pending++;
    pthread_create(&j->thread, NULL, checksum, j);
    return j;
}

int main(void)
{
    struct server s = {0};
    struct job *jobs[2];
#ifdef FIXED
    evthread_use_pthreads();
#endif
    s.base = event_base_new();
    for (unsigned i = 0; i < 2; i++)
        jobs[i] = job_start(&s, i + 1);
    event_base_loop(s.base, EVLOOP_NO_EXIT_ON_EMPTY);
    assert(s.pending == 0);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(jobs[i]->thread, NULL);
        event_free(jobs[i]->done);
        free(jobs[i]);
    }
    event_base_free(s.base);
    return 0;
}
