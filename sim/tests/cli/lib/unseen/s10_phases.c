// SPDX-License-Identifier: Apache-2.0
/* Cause: meet() lines 44-52: the barrier tells "all are here" by the count alone, which is
 * still full while the last meeting empties; a fast thread walks through the next one alone.
 * Repair: wait for the number of the meeting to change (FIXED). */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define PHASES 4

struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    int arrived;
    int left;
    unsigned round;
};

static struct meeting meeting = {
        .mutex = PTHREAD_MUTEX_INITIALIZER, .all_here = PTHREAD_COND_INITIALIZER};
static int done[THREADS];
static pthread_mutex_t done_mutex = PTHREAD_MUTEX_INITIALIZER;

#ifdef FIXED
static void
meet(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->mutex);
    unsigned round = meeting->round;
    if (++meeting->arrived == THREADS) {
        meeting->arrived = 0;
        meeting->round++;
        pthread_cond_broadcast(&meeting->all_here);
    }
    while (meeting->round == round)
        pthread_cond_wait(&meeting->all_here, &meeting->mutex);
    pthread_mutex_unlock(&meeting->mutex);
}
#else
static void
meet(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->mutex);
    int number = meeting->arrived++;
    if (number + 1 >= THREADS)
        pthread_cond_broadcast(&meeting->all_here);
    while (meeting->arrived < THREADS)
        pthread_cond_wait(&meeting->all_here, &meeting->mutex);
    /* The last one to leave opens the room again. */
    if (++meeting->left == THREADS) {
        meeting->left = 0;
        meeting->arrived = 0;
    }
    pthread_mutex_unlock(&meeting->mutex);
}
#endif

static void
set_done(int who, int phase)
{
    pthread_mutex_lock(&done_mutex);
    done[who] = phase;
    pthread_mutex_unlock(&done_mutex);
}

static int
slowest(void)
{
    int least = PHASES;
    pthread_mutex_lock(&done_mutex);
    for (int i = 0; i < THREADS; i++)
        if (done[i] < least)
            least = done[i];
    pthread_mutex_unlock(&done_mutex);
    return least;
}

static void *
step_main(void *argument)
{
    int who = (int)(long)argument;
    for (int phase = 1; phase <= PHASES; phase++) {
        set_done(who, phase);
        meet(&meeting);
        assert(slowest() >= phase);
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, step_main, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d phases\n", slowest());
    return 0;
}
