/* Cause: on_timer(), line 60: the result of read() is ignored; if a renewal was handled in the same round before, it has armed the timer anew, nothing has expired (EAGAIN), and the lease is ended on the strength of an old report although its new deadline is ahead; repair: return unless read() has delivered an expiration. */
/*
 * A server that grants a lease to a client. Each byte from the client renews the lease; when the
 * timer expires the lease ends, and begins again with the next byte.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LEASE_NS 10000000LL
#define RENEWALS 6

struct lease {
    int timer;
    bool held;
    int64_t deadline;
    int expired;
};

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void lease_renew(struct lease *lease)
{
    struct itimerspec spec = {.it_value = {0, 0}};
    lease->held = true;
    lease->deadline = now() + LEASE_NS;
    spec.it_value.tv_sec = lease->deadline / 1000000000LL;
    spec.it_value.tv_nsec = lease->deadline % 1000000000LL;
    timerfd_settime(lease->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* The client has lost it: others may have what it protects. */
static void lease_end(struct lease *lease)
{
    assert(!lease->held || now() >= lease->deadline);
    lease->held = false;
    lease->expired++;
}

static void on_timer(struct lease *lease)
{
    uint64_t expirations = 0;
#ifdef FIXED
    if (read(lease->timer, &expirations, sizeof(expirations)) != sizeof(expirations))
        return;
#else
    (void)!read(lease->timer, &expirations, sizeof(expirations));
#endif
    lease_end(lease);
}

/* False: the client has gone. */
static bool on_client(struct lease *lease, int client)
{
    char byte;
    if (read(client, &byte, 1) != 1)
        return false;
    lease_renew(lease);
    return true;
}

static void *client_main(void *argument)
{
    int to_server = *(int *)argument;
    for (int i = 0; i < RENEWALS; i++) {
        if (write(to_server, "r", 1) != 1)
            break;
        usleep(8000);
    }
    close(to_server);
    return NULL;
}

int main(void)
{
    struct lease lease = {.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK)};
    int ends[2];
    pthread_t client;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&client, NULL, client_main, &ends[1]);

    struct pollfd polls[2] = {{ends[0], POLLIN, 0}, {lease.timer, POLLIN, 0}};
    for (bool open = true; open;) {
        if (poll(polls, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (polls[0].revents != 0)
            open = on_client(&lease, ends[0]);
        if (polls[1].revents & POLLIN)
            on_timer(&lease);
    }
    pthread_join(client, NULL);
    printf("expired %d times\n", lease.expired > RENEWALS ? -1 : 0);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
