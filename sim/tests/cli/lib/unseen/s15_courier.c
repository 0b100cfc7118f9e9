/* Cause: on_answer(), line 52: the timer was stopped when an answer came, and the return for an old answer leaves
 * it stopped: if the current parcel is lost, nothing sends it again; repair: stop it only for the right answer. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Parcels over a link that loses some: send, wait for the answer, send again after 40 ms. */

#define PARCELS 3
#define END 99

static int link_fd[2];
static int timer;
static int current;
static int sent;

static void
set_timer(long ms)
{
    struct itimerspec value = {.it_value = {.tv_nsec = ms * 1000000}};
    timerfd_settime(timer, 0, &value, NULL);
}

static void
send_current(void)
{
    ssize_t n = send(link_fd[0], &current, sizeof current, 0);
    assert(n == sizeof current);
    sent++;
    set_timer(40);
}

static void
on_answer(void)
{
    int answer;
    ssize_t n = recv(link_fd[0], &answer, sizeof answer, 0);
    assert(n == sizeof answer);
#ifdef FIXED
    if (answer != current) {
        return;
    }
    set_timer(0);
#else
    set_timer(0);
    if (answer != current) {
        return;
    }
#endif
    current++;
    if (current < PARCELS) {
        send_current();
    }
}

static void
on_timer(void)
{
    uint64_t times;
    if (read(timer, &times, sizeof times) == sizeof times) {
        send_current();
    }
}

/* The other side: the first attempt at parcel 1 is lost, and answers take a while. */
static void *
far_side(void *argument)
{
    int lost = 0;
    for (;;) {
        int parcel;
        ssize_t n = recv(link_fd[1], &parcel, sizeof parcel, 0);
        assert(n == sizeof parcel);
        if (parcel == END) {
            return argument;
        }
        if (parcel == 1 && !lost) {
            lost = 1;
            continue;
        }
        usleep(35000);
        n = send(link_fd[1], &parcel, sizeof parcel, 0);
        assert(n == sizeof parcel);
    }
}

int
main(void)
{
    pthread_t thread;
    int end = END;
    socketpair(AF_UNIX, SOCK_DGRAM, 0, link_fd);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    pthread_create(&thread, NULL, far_side, NULL);
    send_current();
    while (current < PARCELS) {
        struct pollfd wait[2] = {{.fd = link_fd[0], .events = POLLIN},
                {.fd = timer, .events = POLLIN}};
        if (poll(wait, 2, -1) < 0) {
            continue;
        }
        if (wait[0].revents & POLLIN) {
            on_answer();
        }
        if (wait[1].revents & POLLIN) {
            on_timer();
        }
    }
    send(link_fd[0], &end, sizeof end, 0);
    pthread_join(thread, NULL);
    printf("%d sent for %d\n", sent, PARCELS);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
