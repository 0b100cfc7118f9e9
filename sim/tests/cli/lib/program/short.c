/*
 * short.c -- edge-triggered, and each end takes fewer bytes than it asked for as a sign that there
 * are, or fit, no more, as epoll(7) permits: it waits for the next edge. Over TCP, a Unix socket,
 * or with the argument `pipe` a pipe.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOTAL 9000

static int ends[2];

static void
make(const char *kind)
{
    if (strcmp(kind, "tcp") == 0) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof(at);
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        assert(bind(listener, (struct sockaddr *)&at, size) == 0 && listen(listener, 1) == 0);
        getsockname(listener, (struct sockaddr *)&at, &size);
        ends[1] = socket(AF_INET, SOCK_STREAM, 0);
        assert(connect(ends[1], (struct sockaddr *)&at, size) == 0);
        ends[0] = accept(listener, NULL, NULL);
        close(listener);
    } else if (strcmp(kind, "unix") == 0) {
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    } else {
        assert(pipe(ends) == 0);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
}

/* Moves all by `call`, waiting for an edge where one has moved fewer bytes than it could have. */
static void *
move(int fd, unsigned event, ssize_t (*call)(int fd, char *bytes, size_t size))
{
    char bytes[TOTAL] = "";
    int epoll = epoll_create1(0);
    struct epoll_event edge = {.events = event | EPOLLET};
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &edge) == 0);
    for (size_t done = 0; done < TOTAL;) {
        ssize_t moved = call(fd, bytes, TOTAL - done);
        assert(moved >= 0 || errno == EAGAIN);
        done += moved > 0 ? (size_t)moved : 0;
        if (done < TOTAL) {
            while (epoll_wait(epoll, &edge, 1, -1) != 1) {
                assert(errno == EINTR);
            }
        }
    }
    close(epoll);
    return NULL;
}

static ssize_t
put(int fd, char *bytes, size_t size)
{
    return write(fd, bytes, size);
}

static ssize_t
take(int fd, char *bytes, size_t size)
{
    return read(fd, bytes, size);
}

static void *
writes(void *argument)
{
    (void)argument;
    return move(ends[1], EPOLLOUT, put);
}

int
main(int argc, char **argv)
{
    pthread_t writer;
    make(argc > 1 ? argv[1] : "tcp");
    pthread_create(&writer, NULL, writes, NULL);
    move(ends[0], EPOLLIN, take);
    return pthread_join(writer, NULL);
}
