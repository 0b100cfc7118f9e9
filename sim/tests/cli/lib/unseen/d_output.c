// Cause: d_output.c:63 want_out is cleared after the lock was given up in between: output that was added meanwhile finds want_out set and does not ask for EPOLLOUT
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES 3
#define SIZE 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char out[MESSAGES * SIZE];
static size_t used;
static int want_out, ep, fd;

static void interest(unsigned events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
}

static void queue_output(const char *text)
{
    pthread_mutex_lock(&lock);
    memcpy(out + used, text, SIZE);
    used += SIZE;
    if (!want_out) {
        want_out = 1;
        interest(EPOLLIN | EPOLLOUT);
    }
    pthread_mutex_unlock(&lock);
}

static void on_writable(void)
{
    pthread_mutex_lock(&lock);
    while (used) {
        ssize_t n = write(fd, out, used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        used -= (size_t)n;
        memmove(out, out + n, used);
    }
    int empty = used == 0;
#ifdef FIXED
    if (empty) {
        interest(EPOLLIN);
        want_out = 0;
    }
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    if (empty) {
        interest(EPOLLIN);
        pthread_mutex_lock(&lock);
        want_out = 0;
        pthread_mutex_unlock(&lock);
    }
#endif
}

static void *writer(void *arg)
{
    for (int i = 0; i < MESSAGES; i++)
        queue_output("abcd");
    return arg;
}

static void *peer(void *arg)
{
    int s = *(int *)arg;
    char buf[16];
    for (size_t have = 0; have < MESSAGES * SIZE;) {
        ssize_t n = read(s, buf, sizeof buf);
        if (n > 0)
            have += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    close(s);
    return NULL;
}

int main(void)
{
    int sv[2];
    pthread_t w, p;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
        return 1;
    fd = sv[0];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&p, NULL, peer, &sv[1]);
    for (int open = 1; open;) {
        if (epoll_wait(ep, &e, 1, -1) != 1)
            continue;
        char c;
        if (e.events & EPOLLOUT)
            on_writable();
        if (e.events & (EPOLLIN | EPOLLHUP))
            open = read(fd, &c, 1) != 0;
    }
    pthread_join(w, NULL);
    pthread_join(p, NULL);
    puts("sent");
    return 0;
}
