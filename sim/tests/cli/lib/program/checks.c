/*
 * checks.c -- calls that may fail. Its argument names one whose result it does not look at; of all
 * others it does, and ends with status 0 where one has failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int unchecked;

static void
check(const char *what, int error)
{
    if (error != 0 && !unchecked) {
        printf("%s: %s\n", what, strerror(error));
        _exit(0);
    }
}
static void
number(const char *what, int fd)
{
    check(what, fd < 0 ? errno : 0);
    if (fd < 0) {
        abort();
    }
    close(fd);
}
static void
try_malloc(void)
{
    volatile char *block = malloc(100); /* malloc */
    check("malloc", block == NULL ? errno : 0);
    block[0] = 1;
    free((void *)block);
}
static void
try_fopen(void)
{
    FILE *file = fopen("/dev/null", "r"); /* fopen */
    check("fopen", file == NULL ? errno : 0);
    fclose(file);
}
static void *
nothing(void *a)
{
    return a;
}
static void
try_thread(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, nothing, NULL); /* pthread_create */
    check("pthread_create", error);
    if (error != 0) {
        abort();
    }
    pthread_join(thread, NULL);
}
static int
listener(struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(2000)};
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (struct sockaddr *)at, sizeof(*at));
    listen(fd, 1);
    return fd;
}
static void
try_accept(void)
{
    struct sockaddr_in at;
    int all = listener(&at);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr *)&at, sizeof(at)) != 0) {
        _exit(0); /* Another of these calls has failed. */
    }
    number("accept", accept(all, NULL, NULL)); /* accept */
    close(client);
    close(all);
}
static void
try_pipe(void)
{
    int ends[2] = {-1, -1};
    int error = pipe(ends); /* pipe */
    check("pipe", error != 0 ? errno : 0);
    number("pipe", ends[0]);
    close(ends[1]);
}
static void
try_eventfd(void)
{
    number("eventfd", eventfd(0, 0)); /* eventfd */
}
static void
try_epoll(void)
{
    number("epoll_create1", epoll_create1(0)); /* epoll_create1 */
}
static void
try_timer(void)
{
    number("timerfd_create", timerfd_create(CLOCK_MONOTONIC, 0)); /* timerfd_create */
}
static void
try_socket(void)
{
    number("socket", socket(AF_INET, SOCK_DGRAM, 0)); /* socket */
}
static void
try_open(void)
{
    number("open", open("/dev/null", O_RDONLY)); /* open */
}
static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {{"malloc", try_malloc}, {"fopen", try_fopen}, {"pthread_create", try_thread},
        {"accept", try_accept}, {"pipe", try_pipe}, {"eventfd", try_eventfd},
        {"epoll_create1", try_epoll}, {"timerfd_create", try_timer}, {"socket", try_socket},
        {"open", try_open}};

int
main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        int named = strcmp(calls[i].name, arguments[1]) == 0;
        if (named || strcmp(arguments[1], "none") == 0) {
            unchecked = named;
            calls[i].call();
        }
    }
    return 0;
}
