/*
 * idle.c -- a program that waits, by its first argument, for what comes from outside; or for what
 * never comes.
 *
 * It knows nothing of rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int jobs;
static int is_ready;

static int
listener(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    int fd = socket(AF_INET, type, 0);
    bind(fd, (struct sockaddr *)&address, sizeof(address));
    if (type == SOCK_STREAM) {
        listen(fd, 8);
    }
    return fd;
}

static int
wait_epoll(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    return epoll_wait(epoll, &event, 1, -1);
}

static int
wait_signal(void)
{
    int number = 0;
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return sigwait(&set, &number);
}

/* Waits for jobs, which main would make of connections. */
static void *
serve(void *argument)
{
    pthread_mutex_lock(&left);
    is_ready = 1;
    pthread_cond_signal(&ready);
    while (jobs == 0) {
        pthread_cond_wait(&work, &left);
    }
    pthread_mutex_unlock(&left);
    return argument;
}

/* Says that it is ready without the mutex: main may miss it. */
static void *
serve_badly(void *argument)
{
    __atomic_store_n(&is_ready, 1, __ATOMIC_SEQ_CST);
    pthread_cond_signal(&ready);
    return accept(listener(SOCK_STREAM), NULL, NULL) < 0 ? argument : NULL;
}

static void *
cross(void *argument)
{
    pthread_mutex_t *first = argument != NULL ? &right : &left;
    pthread_mutex_t *second = argument != NULL ? &left : &right;
    pthread_mutex_lock(first);
    usleep(1000);
    pthread_mutex_lock(second);
    return NULL;
}

static void
start(void *(*fn)(void *), void *argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, fn, argument);
}

static void
wait_ready(void)
{
    pthread_mutex_lock(&left);
    while (!__atomic_load_n(&is_ready, __ATOMIC_SEQ_CST)) {
        pthread_cond_wait(&ready, &left);
    }
    pthread_mutex_unlock(&left);
}

static void
on_signal(int number)
{
    (void)number;
}

/* Wakes the main thread, which may not sleep yet. */
static void *
kick(void *argument)
{
    pthread_kill(*(pthread_t *)argument, SIGUSR1);
    return NULL;
}

int
main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    struct pollfd poll_one = {.events = POLLIN};
    char byte = 0;
    if (strcmp(how, "accept") == 0) {
        return accept(listener(SOCK_STREAM), NULL, NULL) < 0;
    } else if (strcmp(how, "epoll") == 0) {
        return wait_epoll(listener(SOCK_STREAM)) < 0;
    } else if (strcmp(how, "poll") == 0) {
        poll_one.fd = listener(SOCK_STREAM);
        return poll(&poll_one, 1, -1) < 0;
    } else if (strcmp(how, "datagram") == 0) {
        return recv(listener(SOCK_DGRAM), &byte, 1, 0) < 0;
    } else if (strcmp(how, "sigwait") == 0) {
        return wait_signal();
    } else if (strcmp(how, "pause") == 0) {
        return pause() == 0;
    } else if (strcmp(how, "pool") == 0) {
        start(serve, NULL);
        start(serve, NULL);
        wait_ready();
        return accept(listener(SOCK_STREAM), NULL, NULL) < 0;
    } else if (strcmp(how, "crossed") == 0) {
        start(cross, NULL);
        start(cross, &right);
        return accept(listener(SOCK_STREAM), NULL, NULL) < 0;
    } else if (strcmp(how, "lost") == 0) {
        int pair[2];
        if (pipe(pair) != 0 || write(pair[1], "x", 1) != 1) {
            return 8;
        }
        start(serve_badly, NULL);
        wait_ready();
        if (read(pair[0], &byte, 1) != 1) {
            return 7;
        }
        return accept(listener(SOCK_STREAM), NULL, NULL) < 0;
    } else if (strcmp(how, "reloads") == 0) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
        pause();
        return 0;
    } else if (strcmp(how, "kicked") == 0 || strcmp(how, "served") == 0) {
        pthread_t self = pthread_self();
        signal(SIGUSR1, on_signal);
        if (strcmp(how, "served") == 0) {
            signal(SIGTERM, on_signal);
        }
        start(kick, &self);
        pause();
        return 0;
    } else if (strcmp(how, "doorbell") == 0) {
        return wait_epoll(eventfd(0, 0)) < 0;
    }
    return 9;
}
