/* Cause: wait_for_reading(), line 74 and 79: left is negative when the deadline has passed, which poll takes for "no time-out". Order: a reading is taken shortly before the deadline; before the next poll the clock passes it by a millisecond or more (the usleep in collect, or a slow step); poll(-n) waits forever, as the probe has nothing more to say and waits to be released (probe_main 55), by the gardener. Harm: nobody runs (deadlock). Fix: a negative rest is 0 (76-77).
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS 20
#define READINGS_MAX 16

struct reading {
    int32_t temperature;
    int32_t humidity;
};

struct probe {
    int fd;
    unsigned count;
    pthread_mutex_t mutex;
    pthread_cond_t released;
    bool is_released;
};

struct report {
    unsigned count;
    int32_t temperature;
    int32_t humidity;
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The probe stays connected until the gardener takes it out of the soil. */
static void *probe_main(void *argument)
{
    struct probe *probe = argument;
    for (unsigned i = 0; i < probe->count; i++) {
        usleep(4000);
        struct reading reading = {20 + (int32_t)i, 60};
        if (write(probe->fd, &reading, sizeof reading) != (ssize_t)sizeof reading)
            abort();
    }
    pthread_mutex_lock(&probe->mutex);
    while (!probe->is_released)
        pthread_cond_wait(&probe->released, &probe->mutex);
    pthread_mutex_unlock(&probe->mutex);
    close(probe->fd);
    return NULL;
}

static void probe_release(struct probe *probe)
{
    pthread_mutex_lock(&probe->mutex);
    probe->is_released = true;
    pthread_cond_signal(&probe->released);
    pthread_mutex_unlock(&probe->mutex);
}

/* 1: there is a reading; 0: the time is up. */
static int wait_for_reading(int fd, int64_t deadline_ms)
{
    struct pollfd entry = {.fd = fd, .events = POLLIN};
    for (;;) {
        int left = (int)(deadline_ms - now_ms());
#ifdef FIXED
        if (left < 0)
            left = 0;
#endif
        int count = poll(&entry, 1, left);
        if (count >= 0)
            return count;
        if (errno != EINTR)
            abort();
    }
}

static struct report collect(int fd)
{
    struct report report = {0};
    struct reading readings[READINGS_MAX];
    int64_t deadline_ms = now_ms() + PERIOD_MS;
    while (report.count < READINGS_MAX && wait_for_reading(fd, deadline_ms) == 1) {
        struct reading *reading = &readings[report.count];
        if (read(fd, reading, sizeof *reading) != (ssize_t)sizeof *reading)
            break;
        usleep(300);
        report.count++;
    }
    for (unsigned i = 0; i < report.count; i++) {
        report.temperature += readings[i].temperature;
        report.humidity += readings[i].humidity;
    }
    if (report.count > 0) {
        report.temperature /= (int32_t)report.count;
        report.humidity /= (int32_t)report.count;
    }
    return report;
}

int main(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    struct probe probe = {.fd = ends[1],
            .count = 3,
            .mutex = PTHREAD_MUTEX_INITIALIZER,
            .released = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    if (pthread_create(&thread, NULL, probe_main, &probe) != 0)
        abort();
    struct report report = collect(ends[0]);
    probe_release(&probe);
    pthread_join(thread, NULL);
    close(ends[0]);
    assert(report.count == 0 || report.humidity == 60);
    printf("%u readings, %d degrees\n", report.count, (int)report.temperature);
    return 0;
}
