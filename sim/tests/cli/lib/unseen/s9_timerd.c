// Cause: run_due() leaves `armed` at the deadline that has expired when no entry is left (it arms only for a `first`
// that exists). timer_add() then compares a later deadline with this past one (`entry->due < armed` is false) and does
// not arm the timerfd: its waiter waits forever. run_due() must set armed = NEVER before it arms for what is left.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A timer thread: deadlines in a sorted list, one timerfd that is armed for the first of them.
 * Any thread may add a deadline. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NEVER UINT64_MAX
#define CLIENTS 2
#define SLEEPS 2

struct entry {
    struct entry *next;
    uint64_t due;
    sem_t over;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *first;
static uint64_t armed = NEVER;
static int timer_fd;
static int remaining = CLIENTS * SLEEPS;

static uint64_t
now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* With the lock held. */
static void
arm(uint64_t due)
{
    struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(due / 1000000000u),
                                      .tv_nsec = (long)(due % 1000000000u)}};
    armed = due;
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void
timer_add(struct entry *entry)
{
    pthread_mutex_lock(&lock);
    struct entry **place = &first;
    while (*place != NULL && (*place)->due <= entry->due) {
        place = &(*place)->next;
    }
    entry->next = *place;
    *place = entry;
    if (entry->due < armed) {
        arm(entry->due);
    }
    pthread_mutex_unlock(&lock);
}

static void
run_due(void)
{
    pthread_mutex_lock(&lock);
    uint64_t now = now_ns();
    while (first != NULL && first->due <= now) {
        struct entry *entry = first;
        first = entry->next;
        remaining--;
        sem_post(&entry->over);
    }
#ifdef FIXED
    armed = NEVER;
#endif
    if (first != NULL) {
        arm(first->due);
    }
    pthread_mutex_unlock(&lock);
}

static void *
timer_main(void *argument)
{
    for (;;) {
        uint64_t count;
        pthread_mutex_lock(&lock);
        bool over = remaining == 0;
        pthread_mutex_unlock(&lock);
        if (over) {
            return argument;
        }
        if (read(timer_fd, &count, sizeof(count)) == sizeof(count)) {
            run_due();
        }
    }
}

static void *
client(void *argument)
{
    uint64_t pause = *(uint64_t *)argument;
    for (int i = 0; i < SLEEPS; i++) {
        struct entry entry = {.due = now_ns() + pause};
        sem_init(&entry.over, 0, 0);
        timer_add(&entry);
        sem_wait(&entry.over);
        sem_destroy(&entry.over);
    }
    return argument;
}

int
main(void)
{
    static uint64_t pauses[CLIENTS] = {5000000, 8000000};
    pthread_t timer, clients[CLIENTS];
    timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_create(&timer, NULL, timer_main, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_create(&clients[i], NULL, client, &pauses[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i], NULL);
    }
    pthread_join(timer, NULL);
    printf("all over\n");
    return 0;
}
