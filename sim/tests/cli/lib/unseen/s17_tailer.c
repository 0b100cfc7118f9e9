/* Cause: serve_batch(), line 66: what a source answers ("there may be more") is overwritten by the answer of the next source in the batch; if only the first has records left they are edge-triggered away, epoll_wait never reports them again, and the tailer waits forever; repair: collect the answers with |=. */
/*
 * Follows two logs at once. Each log is a pipe that is watched edge-triggered; from each at most
 * BUDGET records are taken in a row, so that none holds up the other.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LOGS 2
#define RECORDS 5
#define BUDGET 2

struct record {
    uint32_t log;
    uint32_t number;
};

struct source {
    int reads, writes;
    uint32_t next; /* The number of the record that follows. */
};

static struct source sources[LOGS];

static void *logger(void *argument)
{
    struct source *source = argument;
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct record record = {(uint32_t)(source - sources), i};
        if (write(source->writes, &record, sizeof(record)) != sizeof(record))
            return NULL;
    }
    return NULL;
}

/* Takes at most BUDGET records; true: there may be more. */
static bool serve(struct source *source)
{
    for (int i = 0; i < BUDGET; i++) {
        struct record record;
        ssize_t size = read(source->reads, &record, sizeof(record));
        if (size < 0 && errno == EAGAIN)
            return false;
        assert(size == sizeof(record) && record.number == source->next);
        source->next++;
    }
    return true;
}

/* Serves what was reported; true: the sources are to be asked again without waiting. */
static bool serve_batch(const struct epoll_event *events, int count)
{
    bool more = false;
    for (int i = 0; i < count; i++) {
#ifdef FIXED
        more |= serve(events[i].data.ptr);
#else
        more = serve(events[i].data.ptr);
#endif
    }
    return more;
}

static void follow(int epoll)
{
    struct epoll_event events[LOGS], all[LOGS];
    for (int i = 0; i < LOGS; i++)
        all[i] = (struct epoll_event){.events = EPOLLIN, .data.ptr = &sources[i]};
    while (sources[0].next + sources[1].next < LOGS * RECORDS) {
        int count = epoll_wait(epoll, events, LOGS, -1);
        if (count < 0 && errno == EINTR)
            continue;
        bool more = serve_batch(events, count);
        while (more)
            more = serve(all[0].data.ptr) | serve(all[1].data.ptr);
    }
}

int main(void)
{
    pthread_t threads[LOGS];
    int epoll = epoll_create1(0);
    for (int i = 0; i < LOGS; i++) {
        int ends[2];
        if (pipe2(ends, O_NONBLOCK) != 0)
            return 1;
        sources[i] = (struct source){.reads = ends[0], .writes = ends[1]};
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &sources[i]};
        epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    }
    for (int i = 0; i < LOGS; i++)
        pthread_create(&threads[i], NULL, logger, &sources[i]);
    follow(epoll);
    for (int i = 0; i < LOGS; i++)
        pthread_join(threads[i], NULL);
    printf("%u and %u records\n", sources[0].next, sources[1].next);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
