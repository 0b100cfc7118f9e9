/* Cause: on_refill(), line 66: the refill adds only a half of the quota and does not arm the timer again; spend() arms it only when the quota is full, so once more than a half was spent before a refill, no refill comes any more and the input stays switched off; repair: the refill arms its timer again as long as the quota is not full. */
/*
 * s16_quota.c -- an uplink that takes at most so many bytes per time: libevent.
 *
 * The quota is refilled in halves, by a timer that runs only while something was spent.
 */
#include <assert.h>
#include <event2/event.h>
#include <event2/util.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FULL 64
#define PACKET 16
#define PACKETS 12

struct uplink {
    struct event_base *base;
    struct event *readable;
    struct event *refill;
    int fd;
    size_t quota;
    size_t sent;
    int off; /* The input is not watched. */
};

static const struct timeval period = {.tv_usec = 2000};

static void
spend(struct uplink *uplink, size_t bytes)
{
    if (uplink->quota == FULL) {
        evtimer_add(uplink->refill, &period);
    }
    uplink->quota -= bytes;
    uplink->sent += bytes;
    if (uplink->quota == 0) {
        event_del(uplink->readable);
        uplink->off = 1;
    }
}

static void
on_readable(evutil_socket_t fd, short what, void *argument)
{
    struct uplink *uplink = argument;
    char bytes[FULL];
    (void)what;
    ssize_t n = read(fd, bytes, uplink->quota);
    if (n > 0) {
        spend(uplink, (size_t)n);
    } else if (n == 0) {
        event_base_loopbreak(uplink->base);
    }
}

static void
on_refill(evutil_socket_t fd, short what, void *argument)
{
    struct uplink *uplink = argument;
    (void)fd;
    (void)what;
    uplink->quota += FULL / 2;
    if (uplink->quota >= FULL) {
        uplink->quota = FULL;
    }
#ifdef FIXED
    if (uplink->quota < FULL) {
        evtimer_add(uplink->refill, &period);
    }
#endif
    if (uplink->off) {
        uplink->off = 0;
        event_add(uplink->readable, NULL);
    }
}

static void *
sensor_main(void *argument)
{
    int fd = *(int *)argument;
    char packet[PACKET];
    memset(packet, 's', sizeof packet);
    for (int i = 0; i < PACKETS; i++) {
        ssize_t n = write(fd, packet, sizeof packet);
        assert(n == PACKET);
        usleep(2500);
    }
    shutdown(fd, SHUT_WR);
    return NULL;
}

int
main(void)
{
    static struct uplink uplink = {.quota = FULL};
    pthread_t sensor;
    int ends[2];
    int rc = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    assert(rc == 0);
    uplink.fd = ends[0];
    evutil_make_socket_nonblocking(uplink.fd);
    uplink.base = event_base_new();
    uplink.readable =
            event_new(uplink.base, uplink.fd, EV_READ | EV_PERSIST, on_readable, &uplink);
    uplink.refill = evtimer_new(uplink.base, on_refill, &uplink);
    event_add(uplink.readable, NULL);
    pthread_create(&sensor, NULL, sensor_main, &ends[1]);
    event_base_dispatch(uplink.base);
    pthread_join(sensor, NULL);
    assert(uplink.sent == PACKET * PACKETS);
    event_free(uplink.readable);
    event_free(uplink.refill);
    event_base_free(uplink.base);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
