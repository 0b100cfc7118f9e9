/*
 * Two threads share an epoll instance. Each takes one ticket of an eventfd for an event, and arms the descriptor again,
 * which reports it once more if tickets are left. The last ticket is passed on by the thread that meets it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TICKETS 7

struct office {
    int epoll_fd, tickets;
    atomic_int served;
};

static void office_arm(struct office *office, int how)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT};
    epoll_ctl(office->epoll_fd, how, office->tickets, &event);
}

static void office_issue(struct office *office, uint64_t count)
{
    if (write(office->tickets, &count, sizeof count) < 0)
        perror("write");
}

static void *desk(void *argument)
{
    struct office *office = argument;
    while (atomic_load(&office->served) < TICKETS) {
        struct epoll_event event;
        uint64_t one;
        if (epoll_wait(office->epoll_fd, &event, 1, -1) != 1)
            continue;
        int got = read(office->tickets, &one, sizeof one) == sizeof one;
        office_arm(office, EPOLL_CTL_MOD);
        if (!got)
            continue;
        usleep(50);
        if (atomic_fetch_add(&office->served, 1) + 1 >= TICKETS)
            office_issue(office, 1);
    }
    return NULL;
}

int main(void)
{
    struct office office = {.served = 0};
    pthread_t desks[2];
    office.epoll_fd = epoll_create1(0);
    office.tickets = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    office_arm(&office, EPOLL_CTL_ADD);
    for (int i = 0; i < 2; i++)
        pthread_create(&desks[i], NULL, desk, &office);
    for (uint64_t issued = 0, count = 1; issued < TICKETS; issued += count, count *= 2) {
        office_issue(&office, count);
        usleep(100);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(desks[i], NULL);
    printf("served\n");
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
