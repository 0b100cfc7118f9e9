/*
 * Streams that share a bucket of tokens: who finds it empty queues for the refill, by a timer of libevent.
 * Cause: stream_hangup() (line 88) takes a stream out of the queue and leaves `queued` as it was, so that bucket_queue() does not add the timer again.
 */
#include <errno.h>
#include <event2/event.h>
#include <event2/util.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOTAL 400
#define REFILL 100

struct stream {
    TAILQ_ENTRY(stream) entry;
    struct bucket *bucket;
    struct event *writable, *readable;
    int fd, left;
    bool waits;
};

struct bucket {
    TAILQ_HEAD(, stream) queue;
    struct event_base *base;
    struct event *timer;
    int queued, tokens, open;
};

static void stream_close(struct stream *s)
{
    event_free(s->writable);
    event_free(s->readable);
    close(s->fd);
    if (--s->bucket->open == 0)
        event_base_loopbreak(s->bucket->base);
}

static void bucket_queue(struct bucket *b, struct stream *s)
{
    static const struct timeval period = {0, 2000};
    TAILQ_INSERT_TAIL(&b->queue, s, entry);
    s->waits = true;
    if (b->queued++ == 0)
        evtimer_add(b->timer, &period);
}

/* Writes as much as it may; then it waits for the socket, or for tokens. */
static void stream_advance(struct stream *s)
{
    static const char zeros[TOTAL];
    struct bucket *b = s->bucket;
    while (s->left > 0) {
        int size = s->left < b->tokens ? s->left : b->tokens;
        if (size == 0) {
            bucket_queue(b, s);
            return;
        }
        ssize_t n = send(s->fd, zeros, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            s->left -= n;
            b->tokens -= n;
        }
        if (n < size) {
            event_add(s->writable, NULL);
            return;
        }
    }
    stream_close(s);
}

static void stream_writable(evutil_socket_t fd, short what, void *argument)
{
    stream_advance(argument);
}

static void stream_hangup(evutil_socket_t fd, short what, void *argument)
{
    struct stream *s = argument;
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EAGAIN))
        return;
    if (s->waits) {
        TAILQ_REMOVE(&s->bucket->queue, s, entry);
#ifdef FIXED
        if (--s->bucket->queued == 0)
            event_del(s->bucket->timer);
#endif
    }
    stream_close(s);
}

static void bucket_refill(evutil_socket_t fd, short what, void *argument)
{
    struct bucket *b = argument;
    TAILQ_HEAD(, stream) ready = TAILQ_HEAD_INITIALIZER(ready);
    struct stream *s;
    int share = REFILL / (b->queued > 0 ? b->queued : 1);
    TAILQ_FOREACH(s, &b->queue, entry) {
        s->waits = false;
        b->queued--;
    }
    TAILQ_CONCAT(&ready, &b->queue, entry);
    while ((s = TAILQ_FIRST(&ready)) != NULL) {
        TAILQ_REMOVE(&ready, s, entry);
        b->tokens = share;
        stream_advance(s);
    }
}

static void *receiver(void *argument)
{
    int fd = *(int *)argument;
    char buffer[128];
    long got = 0;
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        got += n;
    close(fd);
    return (void *)got;
}

/* Takes what has come when it looks. */
static void *sampler(void *argument)
{
    int fd = *(int *)argument;
    char buffer[128];
    usleep(5000);
    ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    close(fd);
    return (void *)(n > 0 ? n : 0);
}

int main(void)
{
    struct bucket b = {.tokens = REFILL, .open = 2};
    struct stream streams[2];
    int fds[2][2];
    pthread_t threads[2];
    struct event_config *config;
    long got = 0;
    TAILQ_INIT(&b.queue);
    config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    b.base = event_base_new_with_config(config);
    event_config_free(config);
    b.timer = evtimer_new(b.base, bucket_refill, &b);
    for (int i = 0; i < 2; i++) {
        struct stream *s = &streams[i];
        socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]);
        evutil_make_socket_nonblocking(fds[i][0]);
        *s = (struct stream){.bucket = &b, .fd = fds[i][0], .left = i == 1 ? 100 : TOTAL};
        s->writable = event_new(b.base, s->fd, EV_WRITE, stream_writable, s);
        s->readable = event_new(b.base, s->fd, EV_READ | EV_PERSIST, stream_hangup, s);
        event_add(s->writable, NULL);
        event_add(s->readable, NULL);
        pthread_create(&threads[i], NULL, i == 1 ? sampler : receiver, &fds[i][1]);
    }
    event_base_loop(b.base, EVLOOP_NO_EXIT_ON_EMPTY);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        got += (long)result;
    }
    event_free(b.timer);
    event_base_free(b.base);
    printf("%ld bytes\n", got);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
