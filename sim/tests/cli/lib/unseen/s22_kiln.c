/* Cause: Equality with a counter that can jump. on_beat() adds the number of expirations of the timerfd to kiln.stage (34, 41), and opens the vent only if stage == VENT (42). Order: the control thread is late by a period (it handles a reading, or its step is slow), so that one read returns 2 or more, and stage goes from at most 2 to at least 4. Harm: vent_open is never set; the control thread ends at COOL, main waits in pthread_cond_wait (101) forever: hang. Nobody ever sends the signal: not a wake that was lost between a check and a wait. Fix: lines 37-39, the stage was passed (before < VENT && stage >= VENT). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BEAT_NS (5 * 1000 * 1000)

enum stage { COLD = 0, VENT = 3, COOL = 7 };

struct kiln {
    pthread_mutex_t mutex;
    pthread_cond_t vented;
    bool vent_open;
    uint64_t stage;
    int beat; /* timerfd */
    int readings; /* eventfd of the thermometer */
    uint64_t degrees;
};

static struct kiln kiln = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .vented = PTHREAD_COND_INITIALIZER,
};

static void on_beat(void)
{
    uint64_t beats;
    if (read(kiln.beat, &beats, sizeof beats) != sizeof beats)
        return;
#ifdef FIXED
    uint64_t before = kiln.stage;
    kiln.stage += beats;
    if (before < VENT && kiln.stage >= VENT) {
#else
    kiln.stage += beats;
    if (kiln.stage == VENT) {
#endif
        pthread_mutex_lock(&kiln.mutex);
        kiln.vent_open = true;
        pthread_cond_signal(&kiln.vented);
        pthread_mutex_unlock(&kiln.mutex);
    }
}

static void on_reading(void)
{
    uint64_t degrees;
    if (read(kiln.readings, &degrees, sizeof degrees) == sizeof degrees)
        kiln.degrees += degrees;
}

static void *control(void *argument)
{
    int loop = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = kiln.beat};
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, kiln.beat, &event) == 0);
    event.data.fd = kiln.readings;
    assert(epoll_ctl(loop, EPOLL_CTL_ADD, kiln.readings, &event) == 0);
    while (kiln.stage < COOL) {
        struct epoll_event events[2];
        int count = epoll_wait(loop, events, 2, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == kiln.beat)
                on_beat();
            else
                on_reading();
        }
    }
    close(loop);
    return argument;
}

static void *thermometer(void *argument)
{
    for (int i = 0; i < 4; i++) {
        usleep(6000);
        uint64_t degrees = 150;
        assert(write(kiln.readings, &degrees, sizeof degrees) == sizeof degrees);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    struct itimerspec beat = {{0, BEAT_NS}, {0, BEAT_NS}};
    kiln.readings = eventfd(0, EFD_NONBLOCK);
    kiln.beat = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    assert(kiln.readings >= 0 && kiln.beat >= 0);
    pthread_create(&threads[0], NULL, control, NULL);
    pthread_create(&threads[1], NULL, thermometer, NULL);
    assert(timerfd_settime(kiln.beat, 0, &beat, NULL) == 0);
    pthread_mutex_lock(&kiln.mutex);
    while (!kiln.vent_open)
        pthread_cond_wait(&kiln.vented, &kiln.mutex);
    pthread_mutex_unlock(&kiln.mutex);
    puts("the vent is open");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
