/*
 * A thread that serves several queues, each with an eventfd that counts tickets, by edge events.
 * Cause: desk_event() (line 53) takes one ticket for an edge that may stand for several.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct desk {
    int tickets; /* An eventfd: one for each customer. */
    int served;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct hall {
    int epoll_fd, quit_fd;
    struct desk desks[2];
};

static void desk_open(struct hall *hall, struct desk *desk)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = desk};
    desk->tickets = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->changed, NULL);
    epoll_ctl(hall->epoll_fd, EPOLL_CTL_ADD, desk->tickets, &event);
}

static int desk_take(struct desk *desk)
{
    uint64_t one;
    return read(desk->tickets, &one, sizeof one) == sizeof one;
}

static void desk_serve(struct desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    desk->served++;
    pthread_cond_broadcast(&desk->changed);
    pthread_mutex_unlock(&desk->lock);
}

static void desk_event(struct desk *desk)
{
#ifdef FIXED
    while (desk_take(desk))
#else
    if (desk_take(desk))
#endif
        desk_serve(desk);
}

static void *clerk(void *argument)
{
    struct hall *hall = argument;
    struct epoll_event events[3];
    for (;;) {
        int n = epoll_wait(hall->epoll_fd, events, 3, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr == hall)
                return NULL;
            desk_event(events[i].data.ptr);
        }
    }
}

struct customers {
    struct desk *desk;
    int count;
};

static void *queue(void *argument)
{
    struct customers *c = argument;
    uint64_t one = 1;
    for (int i = 1; i <= c->count; i++) {
        if (write(c->desk->tickets, &one, sizeof one) < 0)
            break;
        usleep(50 * i);
    }
    pthread_mutex_lock(&c->desk->lock);
    while (c->desk->served < c->count)
        pthread_cond_wait(&c->desk->changed, &c->desk->lock);
    pthread_mutex_unlock(&c->desk->lock);
    return NULL;
}

int main(void)
{
    struct hall hall;
    struct customers customers[2];
    pthread_t threads[3];
    uint64_t one = 1;
    hall.epoll_fd = epoll_create1(0);
    hall.quit_fd = eventfd(0, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &hall};
    epoll_ctl(hall.epoll_fd, EPOLL_CTL_ADD, hall.quit_fd, &event);
    for (int i = 0; i < 2; i++) {
        hall.desks[i].served = 0;
        desk_open(&hall, &hall.desks[i]);
    }
    pthread_create(&threads[2], NULL, clerk, &hall);
    for (int i = 0; i < 2; i++) {
        customers[i] = (struct customers){&hall.desks[i], 2 + i};
        pthread_create(&threads[i], NULL, queue, &customers[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (write(hall.quit_fd, &one, sizeof one) < 0)
        return 1;
    pthread_join(threads[2], NULL);
    printf("%d and %d served\n", hall.desks[0].served, hall.desks[1].served);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
