/* Cause: on_expired(), line 99: the event of the timer was fetched in the same batch as a renewal, which was served first and has armed the timer anew; the event is stale, but the lease is taken away all the same, while its holder was told that it has it; repair: the timer is read first, and nothing happens where it has not expired. */
/*
 * s16_lease.c -- a lock service in one thread: a client holds the lock by a lease, and renews it.
 *
 * Epoll over the clients' sockets and a timerfd, which expires when the lease does.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 2
#define NOBODY (-1)
#define LEASE_US 12000
#define RENEW_US 11000
#define RENEWALS 3

enum { ACQUIRE = 'a', RENEW = 'r', RELEASE = 'x', GRANTED = 'g', LOST = 'l', QUIT = 'q' };

struct service {
    int epoll;
    int timer;
    int sockets[CLIENTS];
    int holder;
    int waiting;
    int gone;
    int64_t ends_us; /* Of the lease. */
};

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
tell(struct service *service, int client, char what)
{
    ssize_t n = write(service->sockets[client], &what, 1);
    assert(n == 1);
}

static void
arm(struct service *service, long us)
{
    struct itimerspec time = {.it_value = {.tv_nsec = us * 1000}};
    int rc = timerfd_settime(service->timer, 0, &time, NULL);
    assert(rc == 0);
}

static void
grant(struct service *service, int client)
{
    service->holder = client;
    service->ends_us = now_us() + LEASE_US;
    arm(service, LEASE_US);
    tell(service, client, GRANTED);
}

/* The lock is free: for the client that waits, if there is one. */
static void
pass_on(struct service *service)
{
    int next = service->waiting;
    service->holder = NOBODY;
    service->waiting = NOBODY;
    arm(service, 0);
    if (next != NOBODY) {
        grant(service, next);
    }
}

/* The holder has not renewed in time. */
static void
take_away(struct service *service)
{
    assert(now_us() >= service->ends_us);
    pass_on(service);
}

static void
on_expired(struct service *service)
{
#ifdef FIXED
    uint64_t times;
    if (read(service->timer, &times, sizeof times) < 0) {
        return;
    }
#endif
    if (service->holder != NOBODY) {
        take_away(service);
    }
}

static void
on_request(struct service *service, int client)
{
    char what = QUIT;
    ssize_t n = read(service->sockets[client], &what, 1);
    assert(n >= 0);
    if (n == 0 || what == QUIT) {
        epoll_ctl(service->epoll, EPOLL_CTL_DEL, service->sockets[client], NULL);
        service->gone++;
    } else if (what == ACQUIRE) {
        if (service->holder == NOBODY) {
            grant(service, client);
        } else {
            service->waiting = client;
        }
    } else if (service->holder != client) {
        tell(service, client, LOST);
    } else if (what == RENEW) {
        grant(service, client);
    } else {
        pass_on(service);
        tell(service, client, LOST);
    }
}

static void *
service_main(void *argument)
{
    struct service *service = argument;
    while (service->gone < CLIENTS) {
        struct epoll_event events[CLIENTS + 1];
        int n = epoll_wait(service->epoll, events, CLIENTS + 1, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == service->timer) {
                on_expired(service);
            } else {
                on_request(service, events[i].data.fd == service->sockets[0] ? 0 : 1);
            }
        }
    }
    return NULL;
}

static char
ask(int fd, char what)
{
    char answer;
    ssize_t n = write(fd, &what, 1);
    assert(n == 1);
    n = read(fd, &answer, 1);
    assert(n == 1);
    return answer;
}

static void *
client_main(void *argument)
{
    int fd = *(int *)argument;
    char quit = QUIT;
    char answer = ask(fd, ACQUIRE);
    assert(answer == GRANTED);
    for (int i = 0; i < RENEWALS && answer == GRANTED; i++) {
        usleep(RENEW_US);
        answer = ask(fd, RENEW);
    }
    if (answer == GRANTED) {
        ask(fd, RELEASE);
    }
    ssize_t n = write(fd, &quit, 1);
    assert(n == 1);
    return NULL;
}

int
main(void)
{
    static struct service service = {.holder = NOBODY, .waiting = NOBODY};
    pthread_t serving;
    pthread_t clients[CLIENTS];
    int ends[CLIENTS][2];
    service.epoll = epoll_create1(0);
    service.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = service.timer};
    epoll_ctl(service.epoll, EPOLL_CTL_ADD, service.timer, &event);
    for (int i = 0; i < CLIENTS; i++) {
        int rc = socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]);
        assert(rc == 0);
        service.sockets[i] = ends[i][0];
        event.data.fd = ends[i][0];
        epoll_ctl(service.epoll, EPOLL_CTL_ADD, ends[i][0], &event);
    }
    pthread_create(&serving, NULL, service_main, &service);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_create(&clients[i], NULL, client_main, &ends[i][1]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
    }
    pthread_join(serving, NULL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
