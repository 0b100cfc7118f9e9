/*
 * s11_upload.c -- a libev loop that sends files over a connection and counts the answers; another
 * thread is the peer, which takes the bytes at its own pace and answers each file.
 *
 * Cause: link_interest() (line 41) changes the events of a watcher that is active, so libev does not hear of it
 */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILES 2
#define FILE_SIZE 1800
#define BUFFER_SIZE 2304

struct link {
    ev_io io; /* The first field. */
    int fd;
    int events;
    char out[FILES * FILE_SIZE];
    size_t begin, end;
    int files;
    unsigned answers;
};

static void
link_interest(struct ev_loop *loop, struct link *link, int events)
{
    if (events == link->events) {
        return;
    }
    link->events = events;
#ifdef FIXED
    ev_io_stop(loop, &link->io);
#endif
    ev_io_set(&link->io, link->fd, events);
    ev_io_start(loop, &link->io);
}

static void
link_flush(struct ev_loop *loop, struct link *link)
{
    while (link->begin < link->end) {
        ssize_t n = write(link->fd, link->out + link->begin, link->end - link->begin);
        if (n < 0) {
            break;
        }
        link->begin += n;
    }
    link_interest(loop, link, link->begin < link->end ? EV_READ | EV_WRITE : EV_READ);
}

static void
link_send(struct ev_loop *loop, struct link *link, int file)
{
    memset(link->out + link->end, 'a' + file, FILE_SIZE);
    link->end += FILE_SIZE;
    link_flush(loop, link);
}

static void
on_link(struct ev_loop *loop, ev_io *io, int what)
{
    struct link *link = (struct link *)io;
    if (what & EV_READ) {
        char answers[FILES];
        ssize_t n = read(link->fd, answers, sizeof answers);
        if (n > 0) {
            link->answers += n;
        }
    }
    if (what & EV_WRITE) {
        link_flush(loop, link);
    }
    if (link->answers == FILES && link->begin == link->end) {
        ev_io_stop(loop, io);
    }
}

static void
on_file(struct ev_loop *loop, ev_timer *timer, int what)
{
    struct link *link = timer->data;
    (void)what;
    link_send(loop, link, link->files++);
    if (link->files == FILES) {
        ev_timer_stop(loop, timer);
    }
}

static void *
peer_main(void *argument)
{
    int fd = *(int *)argument;
    char buffer[256];
    for (int file = 0; file < FILES; file++) {
        size_t got = 0;
        while (got < FILE_SIZE) {
            size_t rest = FILE_SIZE - got;
            ssize_t n = read(fd, buffer, rest < sizeof buffer ? rest : sizeof buffer);
            if (n <= 0) {
                return NULL;
            }
            got += n;
        }
        if (write(fd, "k", 1) != 1) {
            return NULL;
        }
    }
    return NULL;
}

int
main(void)
{
    static struct link link;
    int sockets[2], size = BUFFER_SIZE;
    pthread_t peer;
    ev_timer files;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
        return 1;
    }
    fcntl(sockets[0], F_SETFL, O_NONBLOCK);
    setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    link.fd = sockets[0];
    link.events = EV_READ;
    ev_io_init(&link.io, on_link, link.fd, EV_READ);
    ev_io_start(loop, &link.io);
    ev_timer_init(&files, on_file, 0.001, 0.002);
    files.data = &link;
    ev_timer_start(loop, &files);
    pthread_create(&peer, NULL, peer_main, &sockets[1]);
    ev_run(loop, 0);
    pthread_join(peer, NULL);
    printf("%u files sent\n", link.answers);
    ev_loop_destroy(loop);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
