/* Correct: edge-triggered eventfd and timerfd, a timer that is set again by each key, and an expiry that was
 * already queued when the timer was moved is recognised by EAGAIN (a read that says nothing was there). */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A search box: a query goes out when no key was pressed for 30 ms. */

#define KEYS 4

static int keys_fd;
static int timer;
static unsigned typed;
static unsigned queried;

static void
on_keys(void)
{
    uint64_t count;
    while (read(keys_fd, &count, sizeof count) == sizeof count) {
        typed += (unsigned)count;
        struct itimerspec value = {.it_value = {.tv_nsec = 30000000}};
        timerfd_settime(timer, 0, &value, NULL);
    }
    assert(errno == EAGAIN);
}

static void
on_quiet(void)
{
    uint64_t times;
    if (read(timer, &times, sizeof times) < 0) {
        assert(errno == EAGAIN); /* Moved since it was reported. */
        return;
    }
    assert(typed > queried);
    queried = typed;
}

static void *
hands(void *argument)
{
    for (int i = 0; i < KEYS; i++) {
        uint64_t one = 1;
        ssize_t n = write(keys_fd, &one, sizeof one);
        assert(n == sizeof one);
        usleep(i == 1 ? 30000 : 10000);
    }
    return argument;
}

int
main(void)
{
    pthread_t thread;
    int epoll = epoll_create1(0);
    keys_fd = eventfd(0, EFD_NONBLOCK);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = keys_fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, keys_fd, &event);
    event.data.fd = timer;
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
    pthread_create(&thread, NULL, hands, NULL);
    while (queried < KEYS) {
        struct epoll_event events[2];
        int n = epoll_wait(epoll, events, 2, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == keys_fd) {
                on_keys();
            } else {
                on_quiet();
            }
        }
    }
    pthread_join(thread, NULL);
    assert(typed == KEYS);
    printf("%u keys\n", typed);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
