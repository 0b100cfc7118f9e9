/* Cause: remind(), line 48: the timer thread is signalled only for the first reminder, not for one that is due
 * before the deadline it already sleeps for, so that one rings too late; repair: signal for a new earliest one. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* Reminders, rung by one thread that sleeps until the earliest is due. */

#define MS 1000000LL
#define MAX 8

struct reminder {
    int64_t due;
    const char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct reminder list[MAX]; /* The earliest first. */
static int count;
static int rung;
static int wanted = 3;

static int64_t
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 * MS + at.tv_nsec;
}

static void
remind(int64_t after, const char *text)
{
    pthread_mutex_lock(&lock);
    int64_t due = now() + after;
    int at = count++;
    while (at > 0 && list[at - 1].due > due) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = (struct reminder){due, text};
#ifdef FIXED
    if (at == 0) {
#else
    if (count == 1) {
#endif
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
}

static void
ring(void)
{
    struct reminder first = list[0];
    int64_t late = now() - first.due;
    count--;
    for (int i = 0; i < count; i++) {
        list[i] = list[i + 1];
    }
    rung++;
    printf("%s\n", first.text);
    assert(late < 200 * MS);
}

static void *
clock_thread(void *argument)
{
    pthread_mutex_lock(&lock);
    while (rung < wanted) {
        if (count == 0) {
            pthread_cond_wait(&changed, &lock);
        } else if (list[0].due <= now()) {
            ring();
        } else {
            struct timespec until = {list[0].due / (1000 * MS), list[0].due % (1000 * MS)};
            pthread_cond_timedwait(&changed, &lock, &until);
        }
    }
    pthread_mutex_unlock(&lock);
    return argument;
}

static void *
cook(void *argument)
{
    remind(900 * MS, "the bread is done");
    return argument;
}

static void *
guest(void *argument)
{
    remind(100 * MS, "the tea is ready");
    remind(1000 * MS, "the bus leaves");
    return argument;
}

int
main(void)
{
    pthread_t threads[3];
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_create(&threads[0], NULL, clock_thread, NULL);
    pthread_create(&threads[1], NULL, guest, NULL);
    pthread_create(&threads[2], NULL, cook, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
