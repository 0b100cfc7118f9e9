// Cause: l_event.c:53 evthread_use_pthreads() is not called before event_base_new(): event_active() of another thread does not wake the loop
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct event_base *base;
static struct event *done_event;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished;
static int pipe_fd[2];

static void on_pipe(evutil_socket_t fd, short what, void *arg)
{
    char c;
    (void)what;
    (void)arg;
    if (read((int)fd, &c, 1) == 1)
        printf("control byte %c\n", c);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
    int n;
    (void)fd;
    (void)what;
    (void)arg;
    pthread_mutex_lock(&lock);
    n = finished;
    pthread_mutex_unlock(&lock);
    if (n == 2)
        event_base_loopbreak(base);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
    event_active(done_event, EV_READ, 1);
    return arg;
}

int main(void)
{
    pthread_t t[2];
#ifdef FIXED
    evthread_use_pthreads();
#endif
    base = event_base_new();
    if (!base || pipe(pipe_fd))
        return 1;
    struct event *control = event_new(base, pipe_fd[0], EV_READ | EV_PERSIST, on_pipe, NULL);
    done_event = event_new(base, -1, EV_PERSIST, on_done, NULL);
    event_add(control, NULL);
    event_add(done_event, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    event_base_dispatch(base);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    event_free(done_event);
    event_free(control);
    event_base_free(base);
    puts("both done");
    return 0;
}
