// Cause: main(), the one read() after each epoll_wait(): the eventfd is a semaphore (EFD_SEMAPHORE), a read takes one
// unit of it, and it is registered with EPOLLET. Two units that are posted before the loop comes back are one edge;
// the second stays in the eventfd without another edge, and the loop waits for it forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POSTS 3 /* of each thread */

static int units;

static void *poster(void *argument)
{
    uint64_t one = 1;
    for (int i = 0; i < POSTS; i++) {
        usleep(argument != NULL ? 1000 : 1400);
        if (write(units, &one, sizeof(one)) != sizeof(one))
            return argument;
    }
    return NULL;
}

/* Takes a unit; 0: there is none. */
static int take_unit(void)
{
    uint64_t unit;
    return read(units, &unit, sizeof(unit)) == sizeof(unit);
}

int main(void)
{
    pthread_t threads[2];
    int taken = 0;
    int epoll = epoll_create1(0);
    units = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = units};
    if (epoll == -1 || units == -1 || epoll_ctl(epoll, EPOLL_CTL_ADD, units, &event) != 0)
        return 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, poster, i == 0 ? NULL : &units);
    while (taken < 2 * POSTS) {
        if (epoll_wait(epoll, &event, 1, -1) != 1)
            continue;
#ifdef FIXED
        while (take_unit())
            taken++;
#else
        taken += take_unit();
#endif
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d units\n", taken);
    return 0;
}
