/*
 * wake.c -- a wake from one thread to another and back: the hosts, and eventfds by themselves.
 *
 * Two threads on two processors, each with a host of its own (or an epoll and an eventfd). Each
 * blocks until it is notified, and then notifies the other. The rounds alternate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "runtime/host/epoll.h"
#include "runtime/tests/bench/stopwatch.h"
#ifdef RT_URING
#include "runtime/host/uring.h"
#endif

#define TRIPS 2000u
#define ROUNDS 21u

/* One of two ends: how it is woken, and how it waits for that. */
struct end {
    struct rt_host *host;
    struct rt_pollable pollable;
    int epoll;
    int eventfd;
    struct end *other;
    void (*wake)(struct end *end);
    void (*wait)(struct end *end);
};

static void
raw_wake(struct end *end)
{
    const uint64_t one = 1;
    if (write(end->eventfd, &one, sizeof(one)) != sizeof(one)) {
        abort();
    }
}

static void
raw_wait(struct end *end)
{
    struct epoll_event event;
    uint64_t count;
    while (epoll_wait(end->epoll, &event, 1, -1) != 1) {
    }
    if (read(end->eventfd, &count, sizeof(count)) != sizeof(count)) {
        abort();
    }
}

/* The eventfd as an edge, which is never read. */
static void
edge_wait(struct end *end)
{
    struct epoll_event event;
    while (epoll_wait(end->epoll, &event, 1, -1) != 1) {
    }
}

static void
host_wake(struct end *end)
{
    rt_host_notify(end->host);
}

static void
host_wait(struct end *end)
{
    struct rt_pollable *list[1] = {&end->pollable};
    uint32_t index;
    uint32_t ready;
    if (rt_host_poll(end->host, list, 1, &index, &ready) != RT_OK) {
        abort();
    }
}

static void
pin(size_t processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void *
answer(void *argument)
{
    struct end *end = argument;
    pin(1);
    for (uint32_t i = 0; i < TRIPS; i++) {
        end->wait(end);
        end->other->wake(end->other);
    }
    return NULL;
}

static double
measure(struct end ends[2])
{
    pthread_t thread;
    ends[0].other = &ends[1];
    ends[1].other = &ends[0];
    if (pthread_create(&thread, NULL, answer, &ends[1]) != 0) {
        abort();
    }
    double start_ns = stopwatch_now_ns();
    for (uint32_t i = 0; i < TRIPS; i++) {
        ends[1].wake(&ends[1]);
        ends[0].wait(&ends[0]);
    }
    double took_ns = stopwatch_now_ns() - start_ns;
    (void)pthread_join(thread, NULL);
    return took_ns / TRIPS;
}

static double
raw(uint32_t edge)
{
    struct end ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN | edge};
        ends[i] = (struct end){.epoll = epoll_create1(0),
                .eventfd = eventfd(0, 0),
                .wake = raw_wake,
                .wait = edge != 0 ? edge_wait : raw_wait};
        (void)epoll_ctl(ends[i].epoll, EPOLL_CTL_ADD, ends[i].eventfd, &event);
    }
    double took_ns = measure(ends);
    for (uint32_t i = 0; i < 2; i++) {
        (void)close(ends[i].epoll);
        (void)close(ends[i].eventfd);
    }
    return took_ns;
}

static double
over(struct rt_host *hosts[2])
{
    struct end ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = (struct end){.host = hosts[i], .wake = host_wake, .wait = host_wait};
        if (rt_host_subscribe(hosts[i], RT_SUBSCRIBE_NOTIFY, 0, &ends[i].pollable) != RT_OK) {
            abort();
        }
    }
    double took_ns = measure(ends);
    for (uint32_t i = 0; i < 2; i++) {
        rt_pollable_drop(&ends[i].pollable);
    }
    return took_ns;
}

static double
eventfd_round(void)
{
    return raw(0);
}

static double
edge_round(void)
{
    return raw(EPOLLET);
}

static double
epoll_round(void)
{
    struct rt_epoll epolls[2];
    struct rt_host *hosts[2] = {&epolls[0].base.host, &epolls[1].base.host};
    if (rt_epoll_init(&epolls[0], NULL) != RT_OK || rt_epoll_init(&epolls[1], NULL) != RT_OK) {
        abort();
    }
    double took_ns = over(hosts);
    rt_epoll_fini(&epolls[0]);
    rt_epoll_fini(&epolls[1]);
    return took_ns;
}

#ifdef RT_URING
/* 0: the kernel refuses it. */
static double
uring_round(void)
{
    struct rt_uring urings[2];
    struct rt_host *hosts[2] = {&urings[0].base.host, &urings[1].base.host};
    if (rt_uring_init(&urings[0], NULL) != RT_OK) {
        return 0;
    }
    if (rt_uring_init(&urings[1], NULL) != RT_OK) {
        abort();
    }
    double took_ns = over(hosts);
    rt_uring_fini(&urings[0]);
    rt_uring_fini(&urings[1]);
    return took_ns;
}
#endif

static const struct {
    const char *name;
    double (*round)(void);
} rows[] = {
        {"eventfd that is read, epoll", eventfd_round},
        {"eventfd as an edge, epoll", edge_round},
        {"rewake, epoll", epoll_round},
#ifdef RT_URING
        {"rewake, io_uring", uring_round},
#endif
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

int
main(void)
{
    static double measured[ROWS][ROUNDS];
    pin(0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ROWS; i++) {
            measured[i][round] = rows[i].round();
        }
    }
    stopwatch_head("wake of another thread, and back: two processors; ns");
    double limit = stopwatch_figure(measured[0], ROUNDS).median * 1.05;
    for (size_t i = 0; i < ROWS; i++) {
        stopwatch_say(rows[i].name, stopwatch_figure(measured[i], ROUNDS), i > 1 ? limit : 0);
    }
    return 0;
}
