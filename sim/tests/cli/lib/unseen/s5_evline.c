// Cause: s5_evline.c:80 on_readable() leaves without adding its one-shot event again when the line is not complete yet: if the client's command arrives in two parts nobody reads the second part, and the client waits forever for its answer.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COMMANDS 4

struct connection {
    struct event_base *base;
    struct event *readable; /* without EV_PERSIST: one command at a time */
    char line[64];
    size_t used;
    int commands;
};

static int put(int fd, const char *text)
{
    for (size_t at = 0, size = strlen(text); at < size;) {
        ssize_t n = send(fd, text + at, size - at, MSG_NOSIGNAL);
        if (n > 0)
            at += (size_t)n;
        else if (errno != EINTR && errno != EAGAIN)
            return -1;
    }
    return 0;
}

static void *client(void *arg)
{
    int fd = *(int *)arg;
    for (int i = 0; i < COMMANDS; i++) {
        char args[16], answer = 0;
        usleep(200); /* the user types */
        snprintf(args, sizeof args, "%d\n", i);
        put(fd, i % 2 ? "get " : "set ");
        put(fd, args);
        while (answer != '\n') {
            ssize_t n = recv(fd, &answer, 1, 0);
            if (n == 0)
                break;
        }
    }
    close(fd);
    return NULL;
}

static void answer_lines(struct connection *c, int fd)
{
    char *end;
    while ((end = memchr(c->line, '\n', c->used))) {
        size_t length = (size_t)(end - c->line) + 1;
        printf("%.*s\n", (int)length - 1, c->line);
        c->used -= length;
        memmove(c->line, end + 1, c->used);
        c->commands++;
        put(fd, "ok\n");
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct connection *c = arg;
    ssize_t n = recv(fd, c->line + c->used, sizeof c->line - c->used, 0);
    (void)what;
    if (n == 0) {
        event_base_loopbreak(c->base);
        return;
    }
    if (n > 0)
        c->used += (size_t)n;
#ifndef FIXED
    if (n > 0 && !memchr(c->line, '\n', c->used))
        return; /* not a whole line yet */
#endif
    answer_lines(c, (int)fd);
    event_add(c->readable, NULL);
}

int main(void)
{
    pthread_t thread;
    int ends[2];
    struct connection c = {.base = event_base_new()};
    if (!c.base || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return 1;
    evutil_make_socket_nonblocking(ends[0]);
    c.readable = event_new(c.base, ends[0], EV_READ, on_readable, &c);
    event_add(c.readable, NULL);
    pthread_create(&thread, NULL, client, &ends[1]);
    event_base_loop(c.base, EVLOOP_NO_EXIT_ON_EMPTY); /* until the client hangs up */
    pthread_join(thread, NULL);
    event_free(c.readable);
    event_base_free(c.base);
    close(ends[0]);
    printf("%d commands\n", c.commands);
    return c.commands == COMMANDS ? 0 : 1;
}
