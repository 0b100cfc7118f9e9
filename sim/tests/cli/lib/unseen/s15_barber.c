/* Cause: leave(), line 49: it computes the new number before it lets go of the lock to print, and stores it after:
 * a customer that sits down meanwhile is not counted, and never called; repair: waiting-- while it is held. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A barber with a row of chairs; a customer in a hurry leaves when it takes too long. */

#define CUSTOMERS 3

struct visit {
    unsigned comes_ms;
    long patience_ms; /* 0: any. */
};

static const struct visit visits[CUSTOMERS] = {{8, 0}, {10, 15}, {25, 0}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int waiting; /* On a chair, not called yet. */
static int called;  /* Calls that no one has followed yet. */
static int cut;
static int left;

static void
deadline_in(struct timespec *at, long ms)
{
    clock_gettime(CLOCK_REALTIME, at);
    at->tv_nsec += ms * 1000000;
    at->tv_sec += at->tv_nsec / 1000000000;
    at->tv_nsec %= 1000000000;
}

/* With the lock held; gives it back. */
static void
leave(void)
{
#ifdef FIXED
    waiting--;
    left++;
#else
    int others = waiting - 1;
    pthread_mutex_unlock(&lock);
    printf("too slow\n");
    pthread_mutex_lock(&lock);
    waiting = others;
    left++;
#endif
    pthread_cond_signal(&came);
    pthread_mutex_unlock(&lock);
}

static void *
customer(void *argument)
{
    const struct visit *visit = argument;
    struct timespec until;
    usleep(visit->comes_ms * 1000);
    deadline_in(&until, visit->patience_ms);
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&came);
    int result = 0;
    while (called == 0 && result != ETIMEDOUT) {
        result = visit->patience_ms > 0 ? pthread_cond_timedwait(&next, &lock, &until)
                                        : pthread_cond_wait(&next, &lock);
    }
    if (called > 0) {
        called--;
        cut++;
        pthread_mutex_unlock(&lock);
    } else {
        leave();
    }
    return NULL;
}

static void *
barber(void *argument)
{
    pthread_mutex_lock(&lock);
    while (cut + left + called < CUSTOMERS) {
        if (waiting == 0) {
            pthread_cond_wait(&came, &lock);
            continue;
        }
        waiting--;
        called++;
        pthread_cond_signal(&next);
        pthread_mutex_unlock(&lock);
        usleep(20000);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return argument;
}

int
main(void)
{
    pthread_t threads[1 + CUSTOMERS];
    pthread_create(&threads[0], NULL, barber, NULL);
    for (int i = 1; i <= CUSTOMERS; i++) {
        pthread_create(&threads[i], NULL, customer, (void *)&visits[i - 1]);
    }
    for (int i = 0; i <= CUSTOMERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(cut + left == CUSTOMERS);
    printf("%d cut, %d left\n", cut, left);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
