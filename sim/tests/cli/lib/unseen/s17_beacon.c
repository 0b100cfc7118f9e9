/* Cause: on_radio(), line 38: the event is not persistent, and the path for a time-out returns without adding it again; after one silence that is longer than the limit no message of the ship is read any more, and the ship waits for its acknowledgement forever; repair: event_add in that path too. */
/*
 * A beacon listens to a ship's radio with libevent, acknowledges each position, and notes when
 * nothing was heard for a while. The ship signs off on a second channel.
 */
#include <assert.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define POSITIONS 5

struct beacon {
    struct event_base *base;
    struct event *radio;
    struct event *sign_off;
    int answer; /* The ship reads there. */
    int heard;
    int silences;
};

struct ship {
    int radio, answer, sign_off;
};

static const struct timeval limit = {0, 8000};

static void on_radio(evutil_socket_t fd, short what, void *argument)
{
    struct beacon *beacon = argument;
    unsigned char position;
    if (what & EV_TIMEOUT) {
        beacon->silences++;
#ifdef FIXED
        event_add(beacon->radio, &limit);
#endif
        return;
    }
    if (read(fd, &position, 1) == 1) {
        beacon->heard++;
        if (write(beacon->answer, &position, 1) != 1)
            event_base_loopbreak(beacon->base);
    }
    event_add(beacon->radio, &limit);
}

static void on_sign_off(evutil_socket_t fd, short what, void *argument)
{
    struct beacon *beacon = argument;
    (void)fd;
    (void)what;
    event_base_loopbreak(beacon->base);
}

static void *ship_main(void *argument)
{
    struct ship *ship = argument;
    for (unsigned char i = 0; i < POSITIONS; i++) {
        unsigned char heard;
        usleep(4000);
        if (write(ship->radio, &i, 1) != 1 || read(ship->answer, &heard, 1) != 1)
            break;
        assert(heard == i);
    }
    (void)!write(ship->sign_off, "x", 1);
    return NULL;
}

int main(void)
{
    int radio[2], answer[2], sign_off[2];
    pthread_t thread;
    if (pipe(radio) != 0 || pipe(answer) != 0 || pipe(sign_off) != 0)
        return 1;
    struct ship ship = {radio[1], answer[0], sign_off[1]};
    struct beacon beacon = {.base = event_base_new(), .answer = answer[1]};
    beacon.radio = event_new(beacon.base, radio[0], EV_READ, on_radio, &beacon);
    beacon.sign_off = event_new(beacon.base, sign_off[0], EV_READ, on_sign_off, &beacon);
    event_add(beacon.radio, &limit);
    event_add(beacon.sign_off, NULL);
    pthread_create(&thread, NULL, ship_main, &ship);
    event_base_dispatch(beacon.base);
    pthread_join(thread, NULL);
    assert(beacon.heard == POSITIONS);
    event_free(beacon.radio);
    event_free(beacon.sign_off);
    event_base_free(beacon.base);
    printf("heard %d positions\n", beacon.heard);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
