// What a program may rely on when it sleeps, and what not.
//
//     sleeps order      100 us of one thread are over before 1 ms of another one: wrong
//     sleeps alone      two jobs, 10 ms apart, are never due at once: wrong
//     sleeps watchdog   a thread that works for 10 ms says so within 100 ms
//     sleeps answer     an answer that takes 1 ms comes within 100 ms, a hundred times
//     sleeps elapsed    50 ms have not passed after a sleep of 10 ms
//     sleeps start      a second is enough for what takes 20 ms
//
// The first two must fail, the others pass; with --slow-steps they fail, too.
//
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int published, beats, over, bell[2], answers[2];

static int64_t
now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void *
publish(void *argument)
{
    usleep(100);
    published = 1;
    return argument;
}

static int
order(pthread_t *thread)
{
    pthread_create(thread, NULL, publish, NULL);
    usleep(1000);
    return published ? 0 : 1;
}

// The world knows the time of one sleep only.
static int
alone(pthread_t *thread)
{
    (void)thread;
    int64_t due[2] = {now_us() + 10000, now_us() + 20000};
    for (int i = 0; i < 8; i++) {
        int next = due[1] < due[0];
        int64_t left = due[next] - now_us();
        usleep(left > 0 ? (useconds_t)left : 0);
        due[next] += 20000;
        if (due[!next] <= now_us())
            return 1;
    }
    return 0;
}

static void *
guard(void *argument)
{
    pthread_mutex_lock(&mutex);
    for (int seen = -1; !over;) {
        if (seen == beats)
            _exit(3);
        seen = beats;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!over && pthread_cond_timedwait(&changed, &mutex, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

static int
watchdog(pthread_t *thread)
{
    pthread_create(thread, NULL, guard, NULL);
    for (int i = 0; i < 50; i++) {
        usleep(10000);
        pthread_mutex_lock(&mutex);
        beats++;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    over = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return 0;
}

static void *
serve(void *argument)
{
    char byte;
    while (read(bell[0], &byte, 1) == 1) {
        usleep(1000);
        write(answers[1], &byte, 1);
    }
    return argument;
}

static int
answer(pthread_t *thread)
{
    char byte = 'a';
    pthread_create(thread, NULL, serve, NULL);
    for (int i = 0; i < 100; i++) {
        struct pollfd wait = {.fd = answers[0], .events = POLLIN};
        write(bell[1], &byte, 1);
        if (poll(&wait, 1, 100) != 1)
            return 1;
        read(answers[0], &byte, 1);
    }
    close(bell[1]);
    return 0;
}

static void *
tick(void *argument)
{
    for (int i = 0; i < 100; i++)
        usleep(700);
    return argument;
}

static int
elapsed(pthread_t *thread)
{
    pthread_create(thread, NULL, tick, NULL);
    for (int i = 0; i < 10; i++) {
        int64_t before = now_us();
        usleep(10000);
        if (now_us() - before >= 50000)
            return 1;
    }
    return 0;
}

static void *
begin(void *argument)
{
    usleep(20000);
    published = 1;
    return argument;
}

static int
start(pthread_t *thread)
{
    pthread_create(thread, NULL, begin, NULL);
    sleep(1);
    return published ? 0 : 1;
}

int
main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*run)(pthread_t *);
    } all[] = {{"order", order}, {"alone", alone}, {"watchdog", watchdog}, {"answer", answer},
            {"elapsed", elapsed}, {"start", start}};
    pthread_t thread = 0;
    int status = 2;
    assert(count == 2 && pipe(bell) == 0 && pipe(answers) == 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].name, arguments[1]) == 0)
            status = all[i].run(&thread);
    if (status == 0 && thread != 0)
        pthread_join(thread, NULL);
    return status;
}
