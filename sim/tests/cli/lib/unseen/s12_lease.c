/*
 * Leases that expire: one timerfd for the earliest of a sorted list, in a poll loop beside a control pipe.
 * Cause: table_arm() (line 46) sets it_value to 0 for a deadline that is due already, which disarms the timerfd.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct lease {
    struct lease *next;
    uint64_t deadline;
    int id;
};

struct table {
    struct lease *first;
    int timer_fd, control_fd;
    int expired, wanted;
};

struct request {
    int id;
    unsigned term_us;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void table_arm(struct table *t)
{
    struct itimerspec spec = {{0, 0}, {0, 0}};
    if (t->first != NULL) {
        uint64_t now = now_ns();
#ifdef FIXED
        uint64_t left = t->first->deadline > now ? t->first->deadline - now : 1;
#else
        uint64_t left = t->first->deadline > now ? t->first->deadline - now : 0;
#endif
        spec.it_value.tv_sec = left / 1000000000;
        spec.it_value.tv_nsec = left % 1000000000;
    }
    timerfd_settime(t->timer_fd, 0, &spec, NULL);
}

static void table_insert(struct table *t, int id, uint64_t deadline)
{
    struct lease *lease = malloc(sizeof *lease), **at = &t->first;
    while (*at != NULL && (*at)->deadline <= deadline)
        at = &(*at)->next;
    *lease = (struct lease){.next = *at, .deadline = deadline, .id = id};
    *at = lease;
    if (t->first == lease)
        table_arm(t);
}

static void table_expire(struct table *t)
{
    uint64_t ticks, now = now_ns();
    if (read(t->timer_fd, &ticks, sizeof ticks) != sizeof ticks)
        return;
    while (t->first != NULL && t->first->deadline <= now) {
        struct lease *lease = t->first;
        t->first = lease->next;
        printf("lease %d is over\n", lease->id);
        free(lease);
        t->expired++;
    }
    table_arm(t);
}

static void table_control(struct table *t)
{
    struct request request;
    if (read(t->control_fd, &request, sizeof request) == sizeof request)
        table_insert(t, request.id, now_ns() + request.term_us * 1000ull);
}

static void *keeper(void *argument)
{
    struct table *t = argument;
    while (t->expired < t->wanted) {
        struct pollfd fds[2] = {{t->timer_fd, POLLIN, 0}, {t->control_fd, POLLIN, 0}};
        poll(fds, 2, -1);
        if (fds[0].revents)
            table_expire(t);
        if (fds[1].revents)
            table_control(t);
    }
    return NULL;
}

int main(void)
{
    static const struct request requests[] = {{1, 4000}, {2, 2500}, {3, 6000}, {4, 3000}};
    enum { COUNT = sizeof requests / sizeof requests[0] };
    int control[2];
    struct table table = {.wanted = COUNT};
    pthread_t thread;
    if (pipe(control) != 0)
        return 1;
    table.control_fd = control[0];
    table.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    pthread_create(&thread, NULL, keeper, &table);
    for (int i = 0; i < COUNT; i++) {
        if (write(control[1], &requests[i], sizeof requests[i]) < 0)
            return 1;
        usleep(300);
    }
    pthread_join(thread, NULL);
    printf("%d leases\n", table.expired);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
