/* Cause: main(), line 95: both descriptors were reported in one poll; the call has re-armed the timer for the ride, and the old report of the door timer is then taken for the end of the ride, as the result of read() is ignored; repair: act only if read() gave an expiration. */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum state { DOOR_OPEN, RIDING, ARRIVED };

struct cabin {
    int timer;
    int button;
    enum state state;
    uint64_t departed_ms;
    int idle_closings;
};

static uint64_t
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
arm(struct cabin *cabin, long ms)
{
    struct itimerspec when = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    assert(timerfd_settime(cabin->timer, 0, &when, NULL) == 0);
}

static void
on_button(struct cabin *cabin)
{
    uint64_t calls;
    if (read(cabin->button, &calls, sizeof calls) != sizeof calls) {
        return;
    }
    cabin->state = RIDING;
    cabin->departed_ms = now_ms();
    arm(cabin, 50);
}

static void
on_timer(struct cabin *cabin)
{
    if (cabin->state == DOOR_OPEN) {
        cabin->idle_closings++;
        arm(cabin, 10);
    } else if (cabin->state == RIDING) {
        assert(now_ms() - cabin->departed_ms >= 49);
        cabin->state = ARRIVED;
    }
}

static void *
passenger(void *argument)
{
    int button = *(int *)argument;
    uint64_t one = 1;
    usleep(10000);
    assert(write(button, &one, sizeof one) == sizeof one);
    return NULL;
}

int
main(void)
{
    pthread_t thread;
    struct cabin cabin = {
            .timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK),
            .button = eventfd(0, EFD_NONBLOCK),
    };
    pthread_create(&thread, NULL, passenger, &cabin.button);
    arm(&cabin, 10);
    while (cabin.state != ARRIVED) {
        struct pollfd fds[2] = {
                {.fd = cabin.button, .events = POLLIN}, {.fd = cabin.timer, .events = POLLIN}};
        if (poll(fds, 2, -1) <= 0) {
            continue;
        }
        if (fds[0].revents & POLLIN) {
            on_button(&cabin);
        }
        if (fds[1].revents & POLLIN) {
            uint64_t expirations = 0;
            ssize_t got = read(cabin.timer, &expirations, sizeof expirations);
#ifndef FIXED
            (void)got;
            on_timer(&cabin);
#else
            if (got == sizeof expirations) {
                on_timer(&cabin);
            }
#endif
        }
    }
    pthread_join(thread, NULL);
    printf("arrived, %d closings\n", cabin.idle_closings);
    return 0;
}
