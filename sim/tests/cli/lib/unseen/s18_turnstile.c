/* Cause: meet(), line 32: the last one opens the turnstile for all of this round, but a fast walker comes round again and takes the place of a slow one, who stays behind; repair: a second turnstile that nobody passes before all have passed the first. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define WALKERS 3
#define STATIONS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t gate;
static sem_t gate_behind;
static int arrived;
static int reached[WALKERS];

static void
open_for_all(sem_t *which)
{
    for (int i = 0; i < WALKERS; i++) {
        sem_post(which);
    }
}

static void
meet(void)
{
    pthread_mutex_lock(&lock);
    if (++arrived == WALKERS) {
#ifndef FIXED
        arrived = 0;
#endif
        open_for_all(&gate);
    }
    pthread_mutex_unlock(&lock);
    sem_wait(&gate);
#ifdef FIXED
    pthread_mutex_lock(&lock);
    if (--arrived == 0) {
        open_for_all(&gate_behind);
    }
    pthread_mutex_unlock(&lock);
    sem_wait(&gate_behind);
#endif
}

static void *
walker(void *argument)
{
    int number = (int)(long)argument;
    for (int station = 0; station < STATIONS; station++) {
        pthread_mutex_lock(&lock);
        reached[number] = station;
        pthread_mutex_unlock(&lock);
        meet();
        pthread_mutex_lock(&lock);
        for (int i = 0; i < WALKERS; i++) {
            assert(reached[i] >= station);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int
main(void)
{
    pthread_t walkers[WALKERS];
    sem_init(&gate, 0, 0);
    sem_init(&gate_behind, 0, 0);
    for (long i = 0; i < WALKERS; i++) {
        pthread_create(&walkers[i], NULL, walker, (void *)i);
    }
    for (int i = 0; i < WALKERS; i++) {
        pthread_join(walkers[i], NULL);
    }
    puts("all at the last station");
    return 0;
}
