/*
 * Copies a socket to another through a buffer with two marks, on libev.
 * Cause: relay_read() (line 68) stops the reader by a mark that it compares before relay_push(), which may empty the buffer at once.
 */
#include <assert.h>
#include <errno.h>
#include <ev.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HIGH 192
#define LOW 64
#define TOTAL 1200

struct relay {
    ev_io reader, writer;
    int from, to;
    char buffer[256];
    int length;
    bool ended;
};

/* Writes what it can; the writer is active as long as something is left. */
static void relay_push(struct ev_loop *loop, struct relay *r)
{
    ssize_t n = send(r->to, r->buffer, r->length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
        memmove(r->buffer, r->buffer + n, r->length - n);
        r->length -= n;
    }
    if (r->length > 0) {
        ev_io_start(loop, &r->writer);
        return;
    }
    ev_io_stop(loop, &r->writer);
    if (r->ended) {
        shutdown(r->to, SHUT_WR);
        ev_break(loop, EVBREAK_ALL);
    }
}

static void relay_write(struct ev_loop *loop, ev_io *io, int events)
{
    struct relay *r = io->data;
    int before = r->length;
    relay_push(loop, r);
    if (before > LOW && r->length <= LOW && !r->ended)
        ev_io_start(loop, &r->reader);
}

static void relay_read(struct ev_loop *loop, ev_io *io, int events)
{
    struct relay *r = io->data;
    ssize_t n = recv(r->from, r->buffer + r->length, sizeof r->buffer - r->length, MSG_DONTWAIT);
    if (n < 0)
        return;
    r->length += n;
    r->ended = n == 0;
#ifdef FIXED
    relay_push(loop, r);
    if (r->length >= HIGH || r->ended)
        ev_io_stop(loop, &r->reader);
#else
    if (r->length >= HIGH || r->ended)
        ev_io_stop(loop, &r->reader);
    relay_push(loop, r);
#endif
}


static void *sender(void *argument)
{
    int fd = *(int *)argument;
    char block[100] = {0};
    for (int sent = 0; sent < TOTAL;) {
        ssize_t n = write(fd, block, sizeof block);
        assert(n > 0);
        sent += n;
        usleep(200);
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void *receiver(void *argument)
{
    int fd = *(int *)argument;
    char block[64];
    long got = 0;
    ssize_t n;
    while ((n = read(fd, block, sizeof block)) > 0)
        got += n;
    return (void *)got;
}

int main(void)
{
    struct ev_loop *loop = ev_loop_new(EVBACKEND_EPOLL);
    struct relay relay = {0};
    int in[2], out[2];
    pthread_t threads[2];
    void *got;
    socketpair(AF_UNIX, SOCK_STREAM, 0, in);
    socketpair(AF_UNIX, SOCK_STREAM, 0, out);
    relay.from = in[1];
    relay.to = out[0];
    ev_io_init(&relay.reader, relay_read, relay.from, EV_READ);
    ev_io_init(&relay.writer, relay_write, relay.to, EV_WRITE);
    relay.reader.data = relay.writer.data = &relay;
    ev_io_start(loop, &relay.reader);
    pthread_create(&threads[0], NULL, sender, &in[0]);
    pthread_create(&threads[1], NULL, receiver, &out[1]);
    ev_run(loop, 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], &got);
    ev_loop_destroy(loop);
    printf("%ld bytes\n", (long)got);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
