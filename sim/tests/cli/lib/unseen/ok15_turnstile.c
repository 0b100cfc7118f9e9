/* Correct: a reusable barrier of one condition variable and a phase number, a signal sent after the unlock, and a
 * sleeper that announces itself before it looks (each would be a lost wake-up if one line moved). */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Three rowers move in step; a cox counts strokes by an eventfd that is rung only while it sleeps. */

#define ROWERS 3
#define STROKES 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int arrived;
static unsigned phase;

static atomic_int strokes;
static atomic_int cox_sleeps;
static int bell;

static void
tell_cox(void)
{
    atomic_fetch_add(&strokes, 1);
    if (atomic_exchange(&cox_sleeps, 0)) {
        uint64_t one = 1;
        ssize_t n = write(bell, &one, sizeof one);
        assert(n == sizeof one);
    }
}

/* True for the one that turned it. */
static int
turnstile(void)
{
    pthread_mutex_lock(&lock);
    unsigned mine = phase;
    if (++arrived == ROWERS) {
        arrived = 0;
        phase++;
        pthread_mutex_unlock(&lock);
        pthread_cond_broadcast(&turned);
        return 1;
    }
    while (mine == phase) {
        pthread_cond_wait(&turned, &lock);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *
row(void *argument)
{
    for (int i = 0; i < STROKES; i++) {
        if (turnstile()) {
            tell_cox();
        }
    }
    return argument;
}

static void
cox(void)
{
    while (atomic_load(&strokes) < STROKES) {
        atomic_store(&cox_sleeps, 1);
        if (atomic_load(&strokes) >= STROKES) {
            break; /* The bell may ring once more; no one listens. */
        }
        uint64_t times;
        ssize_t n = read(bell, &times, sizeof times);
        assert(n == sizeof times);
    }
}

int
main(void)
{
    pthread_t threads[ROWERS];
    bell = eventfd(0, 0);
    for (int i = 0; i < ROWERS; i++) {
        pthread_create(&threads[i], NULL, row, NULL);
    }
    cox();
    for (int i = 0; i < ROWERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(atomic_load(&strokes) == STROKES);
    printf("%d strokes\n", atomic_load(&strokes));
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
