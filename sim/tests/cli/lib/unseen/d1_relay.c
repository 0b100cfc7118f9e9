// Cause: d1_relay.c:46 want_write stays set after the buffer was flushed, so the next time that the output is full nobody asks for EPOLLOUT
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CHUNK 16384
#define CHUNKS 18
#define BURST 6

struct relay {
    int epoll, in, out;
    char buffer[CHUNK * (CHUNKS + 1)];
    size_t length;
    bool want_write, ended;
};

static void watch(struct relay *r, int operation, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    int failed = epoll_ctl(r->epoll, operation, fd, &event);
    assert(!failed);
}

static void flush(struct relay *r)
{
    while (r->length > 0) {
        ssize_t n = write(r->out, r->buffer, r->length);
        if (n < 0) {
            assert(errno == EAGAIN);
            if (!r->want_write)
                watch(r, EPOLL_CTL_MOD, r->out, EPOLLOUT);
            r->want_write = true;
            return;
        }
        r->length -= (size_t)n;
        memmove(r->buffer, r->buffer + n, r->length);
    }
    if (r->want_write) {
        watch(r, EPOLL_CTL_MOD, r->out, 0);
#ifdef FIXED
        r->want_write = false;
#endif
    }
}

static void receive(struct relay *r)
{
    ssize_t n = read(r->in, r->buffer + r->length, sizeof r->buffer - r->length);
    if (n > 0)
        r->length += (size_t)n;
    if (n == 0) {
        watch(r, EPOLL_CTL_DEL, r->in, 0);
        r->ended = true;
    }
}

static void relay_run(struct relay *r)
{
    r->epoll = epoll_create1(0);
    watch(r, EPOLL_CTL_ADD, r->in, EPOLLIN);
    watch(r, EPOLL_CTL_ADD, r->out, 0);
    while (!r->ended || r->length > 0) {
        struct epoll_event event;
        if (epoll_wait(r->epoll, &event, 1, -1) != 1)
            continue;
        if (event.data.fd == r->in)
            receive(r);
        flush(r);
    }
    close(r->epoll);
    close(r->out);
}

static void *source(void *argument)
{
    static char chunk[CHUNK];
    int fd = *(int *)argument;
    for (int i = 0; i < CHUNKS; i++) {
        if (i % BURST == 0)
            usleep(1000);
        for (size_t done = 0; done < sizeof chunk;) {
            ssize_t n = write(fd, chunk + done, sizeof chunk - done);
            assert(n > 0);
            done += (size_t)n;
        }
    }
    close(fd);
    return NULL;
}

static void *sink(void *argument)
{
    static char chunk[CHUNK];
    int fd = *(int *)argument;
    size_t got = 0;
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        got += (size_t)n;
    assert(got == sizeof chunk * CHUNKS);
    return NULL;
}

int main(void)
{
    static struct relay relay;
    int from[2], to[2];
    pthread_t threads[2];
    assert(pipe(from) == 0 && pipe(to) == 0);
    relay.in = from[0];
    relay.out = to[1];
    fcntl(relay.in, F_SETFL, O_NONBLOCK);
    fcntl(relay.out, F_SETFL, O_NONBLOCK);
    pthread_create(&threads[0], NULL, source, &from[1]);
    pthread_create(&threads[1], NULL, sink, &to[0]);
    relay_run(&relay);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
