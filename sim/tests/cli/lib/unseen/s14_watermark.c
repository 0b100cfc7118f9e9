/* A relay over libevent that stops reading while its queue is above a high mark, until it has fallen to a low mark.
 * Cause: drain() (line 59): reading is resumed when the queue is exactly at the low mark, but one write may take
 * several messages, and pass it. Repair: resume when it is at the low mark or below. */
#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES 16
#define HIGH 5
#define LOW 2
#define AT_ONCE 3

struct relay {
    struct event_base *base;
    struct event *readable, *drains;
    int in;
    unsigned char queue[64];
    unsigned head, count;
    bool paused, ended;
    int forwarded;
};

static void schedule_drain(struct relay *r)
{
    struct timeval in = {.tv_usec = 2000};
    if (r->count > 0 && !evtimer_pending(r->drains, NULL))
        evtimer_add(r->drains, &in);
}

static void finish_if_done(struct relay *r)
{
    if (r->ended && r->count == 0)
        event_base_loopbreak(r->base);
}

/* The device downstream takes up to AT_ONCE messages each time. */
static void drain(evutil_socket_t fd, short what, void *argument)
{
    struct relay *r = argument;
    (void)fd;
    (void)what;
    for (int i = 0; i < AT_ONCE && r->count > 0; i++) {
        assert(r->queue[r->head] == r->forwarded);
        r->head = (r->head + 1) % sizeof r->queue;
        r->count--;
        r->forwarded++;
    }
#ifdef FIXED
    if (r->paused && r->count <= LOW) {
#else
    if (r->paused && r->count == LOW) {
#endif
        r->paused = false;
        event_add(r->readable, NULL);
    }
    schedule_drain(r);
    finish_if_done(r);
}

static void on_readable(evutil_socket_t fd, short what, void *argument)
{
    struct relay *r = argument;
    (void)what;
    unsigned char messages[4];
    ssize_t n = read((int)fd, messages, sizeof messages);
    if (n < 0) {
        assert(errno == EAGAIN || errno == EINTR);
        return;
    }
    if (n == 0) {
        r->ended = true;
        event_del(r->readable);
    }
    for (ssize_t i = 0; i < n; i++)
        r->queue[(r->head + r->count++) % sizeof r->queue] = messages[i];
    if (r->count >= HIGH && !r->ended) {
        r->paused = true;
        event_del(r->readable);
    }
    schedule_drain(r);
    finish_if_done(r);
}

static void *sender(void *argument)
{
    int fd = *(int *)argument;
    for (unsigned char i = 0; i < MESSAGES; i++) {
        while (write(fd, &i, 1) != 1)
            ;
        usleep(1500);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct relay r = {0};
    pthread_t thread;
    int pair[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    assert(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
    r.in = pair[0];
    r.base = event_base_new();
    r.readable = event_new(r.base, r.in, EV_READ | EV_PERSIST, on_readable, &r);
    r.drains = evtimer_new(r.base, drain, &r);
    event_add(r.readable, NULL);
    pthread_create(&thread, NULL, sender, &pair[1]);
    event_base_dispatch(r.base);
    pthread_join(thread, NULL);
    assert(r.forwarded == MESSAGES);
    event_free(r.readable);
    event_free(r.drains);
    event_base_free(r.base);
    close(r.in);
    printf("%d messages\n", r.forwarded);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
