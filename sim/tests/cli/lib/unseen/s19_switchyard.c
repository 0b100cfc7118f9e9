/* Cause: on_car() does not compare the serial of the event with the serial of the track (56-62): an event of the old car (hang-up), fetched in the same batch (epoll_wait) before on_order() closed it and coupled a new car (50-52), is applied to the new car (same track, reused descriptor), which is uncoupled (69). */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRACKS 2
#define ORDERS (~0ull)

struct track {
    int tower; /* -1: no car. */
    int car;
    unsigned serial;
    int tons;
};

static struct track tracks[TRACKS];
static int epoll;
static int order[2];

static void couple(unsigned number)
{
    struct track *track = &tracks[number];
    int pair[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    track->tower = pair[0];
    track->car = pair[1];
    track->serial++;
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u64 = (unsigned long long)track->serial << 32 | number;
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, track->tower, &event) == 0);
}

static void uncouple(struct track *track)
{
    close(track->tower);
    track->tower = -1;
}

static void on_order(void)
{
    char number;
    if (read(order[0], &number, 1) != 1)
        return;
    struct track *track = &tracks[number - '0'];
    if (track->tower >= 0)
        uncouple(track);
    couple((unsigned)(number - '0'));
}

static void on_car(struct track *track, unsigned serial, unsigned events)
{
    char load[8];
#ifdef FIXED
    if (serial != track->serial)
        return;
#endif
    (void)serial;
    if (events & EPOLLIN) {
        ssize_t n = read(track->tower, load, sizeof load);
        for (ssize_t i = 0; i < n; i++)
            track->tons += load[i];
    }
    if (events & (EPOLLHUP | EPOLLERR))
        uncouple(track);
}

static void *driver_main(void *argument)
{
    int car = *(int *)argument;
    char load = 9;
    usleep(1000);
    ssize_t n = send(car, &load, 1, MSG_NOSIGNAL);
    (void)n;
    usleep(1000);
    close(car);
    return NULL;
}

static void *dispatcher_main(void *argument)
{
    (void)argument;
    usleep(2000);
    assert(write(order[1], "1", 1) == 1);
    return NULL;
}

int main(void)
{
    pthread_t driver, dispatcher;
    assert(pipe2(order, O_NONBLOCK) == 0);
    epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = ORDERS};
    assert(epoll_ctl(epoll, EPOLL_CTL_ADD, order[0], &event) == 0);
    for (unsigned i = 0; i < TRACKS; i++)
        couple(i);
    int first = tracks[1].car;
    pthread_create(&driver, NULL, driver_main, &first);
    pthread_create(&dispatcher, NULL, dispatcher_main, NULL);
    for (int quiet = 0; quiet < 2;) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, 100);
        quiet = count == 0 ? quiet + 1 : 0;
        for (int i = 0; i < count; i++) {
            unsigned long long data = events[i].data.u64;
            if (data == ORDERS)
                on_order();
            else
                on_car(&tracks[data & 0xff], (unsigned)(data >> 32), events[i].events);
        }
    }
    pthread_join(driver, NULL);
    pthread_join(dispatcher, NULL);
    assert(tracks[1].tower >= 0);
    printf("%u couplings, %d tons\n", tracks[1].serial, tracks[1].tons);
    return 0;
}
