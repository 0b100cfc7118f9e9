// A timerfd that a thread has slept past is ready in its next look; the clock's interrupt may be
// late by some microseconds alone.
//
//     overdue epoll|edge|poll|select|read|gettime|wait
//                       passes: the thread sleeps 2 ms past it, or waits so long for it
//     overdue soon      fails: the thread sleeps 1 us past it
//
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int
reported(int timer, int epoll, const char *how)
{
    struct epoll_event event;
    struct pollfd one = {.fd = timer, .events = POLLIN};
    struct itimerspec left;
    struct timeval none = {0};
    fd_set set;
    if (strcmp(how, "poll") == 0)
        return poll(&one, 1, 0) == 1;
    if (strcmp(how, "gettime") == 0)
        return timerfd_gettime(timer, &left) == 0 && left.it_value.tv_nsec == 0;
    if (strcmp(how, "select") == 0) {
        FD_ZERO(&set);
        FD_SET(timer, &set);
        return select(timer + 1, &set, NULL, NULL, &none) == 1;
    }
    return strcmp(how, "read") == 0 || epoll_wait(epoll, &event, 1, 0) == 1;
}

int
main(int count, char **arguments)
{
    const char *how = count == 2 ? arguments[1] : "";
    int wait = strcmp(how, "wait") == 0;
    uint64_t expirations = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | (strcmp(how, "edge") == 0 ? EPOLLET : 0)};
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    for (int i = 0; i < 4; i++) {
        const struct itimerspec due = {.it_value = {.tv_nsec = 1000000}};
        timerfd_settime(timer, 0, &due, NULL);
        if (wait) {
            if (epoll_wait(epoll, &event, 1, 3) != 1)
                return 1;
        } else {
            usleep(strcmp(how, "soon") == 0 ? 1001 : 3000);
            if (!reported(timer, epoll, how))
                return 1;
        }
        if (read(timer, &expirations, sizeof(expirations)) != sizeof(expirations))
            return 1;
        if (expirations != 1)
            return 1;
    }
    return 0;
}
