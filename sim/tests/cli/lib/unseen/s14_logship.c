/* A log shipper: two services write records to a socket each, and a collector serves both, edge-triggered and fair.
 * Cause: serve() (line 73): a source whose turn ends because its share is used up is not queued for another turn, and
 * what it has left announces itself by no further edge. Repair: put it into the list of those to be continued. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOURCES 2
#define RECORDS 6
#define RECORD_SIZE 32
#define SHARE 4 /* Records in one turn of a source. */

struct source {
    int fd;
    int number;
    char partial[RECORD_SIZE];
    size_t have;
    int records;
    bool ended;
    bool again;
};

static struct source sources[SOURCES];

static void record_store(struct source *s)
{
    int service, number;
    assert(sscanf(s->partial, "service %d record %d", &service, &number) == 2);
    assert(service == s->number && number == s->records);
    s->records++;
}

/* False: there is nothing more to read now. */
static bool read_record(struct source *s)
{
    while (s->have < RECORD_SIZE) {
        ssize_t n = read(s->fd, s->partial + s->have, RECORD_SIZE - s->have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            assert(errno == EAGAIN);
            return false;
        }
        if (n == 0) {
            assert(s->have == 0);
            s->ended = true;
            return false;
        }
        s->have += (size_t)n;
    }
    s->have = 0;
    return true;
}

static void serve(struct source *s)
{
    s->again = false;
    for (int i = 0; i < SHARE; i++) {
        if (!read_record(s))
            return;
        record_store(s);
    }
#ifdef FIXED
    s->again = true;
#endif
}

static void *collector(void *argument)
{
    int epoll = *(int *)argument;
    int open_sources = SOURCES;
    while (open_sources > 0) {
        struct epoll_event events[SOURCES];
        bool continues = false;
        for (int i = 0; i < SOURCES; i++)
            continues |= sources[i].again;
        int n = epoll_wait(epoll, events, SOURCES, continues ? 0 : -1);
        for (int i = 0; i < n; i++)
            ((struct source *)events[i].data.ptr)->again = true;
        for (int i = 0; i < SOURCES; i++) {
            struct source *s = &sources[i];
            if (!s->again)
                continue;
            serve(s);
            if (s->ended) {
                epoll_ctl(epoll, EPOLL_CTL_DEL, s->fd, NULL);
                close(s->fd);
                open_sources--;
            }
        }
    }
    return NULL;
}

struct service {
    int fd;
    int number;
};

static void *service(void *argument)
{
    struct service *self = argument;
    for (int i = 0; i < RECORDS; i++) {
        char record[RECORD_SIZE];
        memset(record, ' ', sizeof record);
        snprintf(record, sizeof record, "service %d record %d", self->number, i);
        for (size_t sent = 0; sent < sizeof record;) {
            ssize_t n = write(self->fd, record + sent, sizeof record - sent);
            if (n > 0)
                sent += (size_t)n;
        }
        usleep(200 + 100 * (unsigned)self->number);
    }
    close(self->fd);
    return NULL;
}

int main(void)
{
    pthread_t collects, threads[SOURCES];
    struct service services[SOURCES];
    int epoll = epoll_create1(0);
    assert(epoll >= 0);
    for (int i = 0; i < SOURCES; i++) {
        int pair[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        assert(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
        sources[i].fd = pair[0];
        sources[i].number = services[i].number = i;
        services[i].fd = pair[1];
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &sources[i]};
        assert(epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event) == 0);
    }
    pthread_create(&collects, NULL, collector, &epoll);
    for (int i = 0; i < SOURCES; i++)
        pthread_create(&threads[i], NULL, service, &services[i]);
    for (int i = 0; i < SOURCES; i++)
        pthread_join(threads[i], NULL);
    pthread_join(collects, NULL);
    for (int i = 0; i < SOURCES; i++)
        assert(sources[i].records == RECORDS);
    printf("%d records\n", SOURCES * RECORDS);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
