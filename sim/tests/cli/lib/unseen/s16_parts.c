/* Cause: on_finished(), line 103: the handler returns without reading the eventfd where the list is empty, as when the part was collected by the call before; the descriptor stays readable, and the loop turns without end and without progress until the window is closed; repair: the eventfd is read in any case. */
/*
 * s16_parts.c -- a download in parts: threads fetch them, an epoll loop puts them together.
 *
 * A thread puts its part on a list and writes an eventfd; the loop also serves a control pipe.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FETCHERS 2
#define PART 8

struct part {
    struct part *next;
    unsigned number;
    char bytes[PART];
};

struct download {
    int epoll;
    int finished; /* eventfd: parts are on the list. */
    int control;
    pthread_mutex_t mutex;
    struct part *list;
    char file[FETCHERS * PART];
    unsigned parts;
    int closed;
};

struct fetcher {
    struct download *download;
    unsigned number;
    pthread_t thread;
};

static void
watch(struct download *download, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int rc = epoll_ctl(download->epoll, EPOLL_CTL_ADD, fd, &event);
    assert(rc == 0);
}

static void *
fetcher_main(void *argument)
{
    struct fetcher *fetcher = argument;
    struct download *download = fetcher->download;
    struct part *part = malloc(sizeof *part);
    uint64_t one = 1;
    part->number = fetcher->number;
    usleep(300);
    memset(part->bytes, 'a' + (int)fetcher->number, sizeof part->bytes);
    pthread_mutex_lock(&download->mutex);
    part->next = download->list;
    download->list = part;
    pthread_mutex_unlock(&download->mutex);
    ssize_t n = write(download->finished, &one, sizeof one);
    assert(n == sizeof one);
    return NULL;
}

static struct part *
collect(struct download *download)
{
    pthread_mutex_lock(&download->mutex);
    struct part *list = download->list;
    download->list = NULL;
    pthread_mutex_unlock(&download->mutex);
    return list;
}

static __attribute__((unused)) int
nothing_listed(struct download *download)
{
    pthread_mutex_lock(&download->mutex);
    int nothing = download->list == NULL;
    pthread_mutex_unlock(&download->mutex);
    return nothing;
}

static void
acknowledge(struct download *download)
{
    uint64_t count;
    ssize_t n = read(download->finished, &count, sizeof count);
    assert(n == sizeof count);
}

static void
on_finished(struct download *download)
{
#ifdef FIXED
    acknowledge(download);
#else
    if (nothing_listed(download)) {
        return;
    }
    acknowledge(download);
#endif
    struct part *list = collect(download);
    while (list != NULL) {
        struct part *part = list;
        list = part->next;
        memcpy(download->file + part->number * PART, part->bytes, PART);
        download->parts++;
        free(part);
    }
}

static void
on_control(struct download *download)
{
    char command;
    ssize_t n = read(download->control, &command, 1);
    assert(n >= 0);
    download->closed = n == 0;
}

static void *
loop_main(void *argument)
{
    struct download *download = argument;
    while (!download->closed) {
        struct epoll_event events[2];
        int n = epoll_wait(download->epoll, events, 2, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == download->finished) {
                on_finished(download);
            } else {
                on_control(download);
            }
        }
    }
    return NULL;
}

int
main(void)
{
    static struct download download = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    struct fetcher fetchers[FETCHERS];
    pthread_t loop;
    int control[2];
    if (pipe(control) != 0) {
        return 1;
    }
    download.epoll = epoll_create1(0);
    download.finished = eventfd(0, EFD_NONBLOCK);
    download.control = control[0];
    watch(&download, download.finished);
    watch(&download, download.control);
    pthread_create(&loop, NULL, loop_main, &download);
    for (unsigned i = 0; i < FETCHERS; i++) {
        fetchers[i].download = &download;
        fetchers[i].number = i;
        pthread_create(&fetchers[i].thread, NULL, fetcher_main, &fetchers[i]);
    }
    for (unsigned i = 0; i < FETCHERS; i++) {
        pthread_join(fetchers[i].thread, NULL);
    }
    usleep(200000); /* The user looks at the file, then closes the window. */
    close(control[1]);
    pthread_join(loop, NULL);
    assert(download.parts == FETCHERS);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
