/* Cause: press(), line 39: the way out for a barrel that is locked keeps its place at the press; after two of them all places are gone; repair: sem_post before that return. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>

#define PICKERS 4
#define PLACES 2

struct barrel {
    pthread_mutex_t lock;
    int litres;
};

static sem_t places;
static struct barrel barrel = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;
static int pressed, postponed;

static void
count(int *counter)
{
    pthread_mutex_lock(&tally_lock);
    ++*counter;
    pthread_mutex_unlock(&tally_lock);
}

static bool
press(int grapes)
{
    sem_wait(&places);
    if (pthread_mutex_trylock(&barrel.lock) != 0) {
        count(&postponed);
#ifdef FIXED
        sem_post(&places);
#endif
        return false;
    }
    barrel.litres += grapes / 2;
    count(&pressed);
    pthread_mutex_unlock(&barrel.lock);
    sem_post(&places);
    return true;
}

static void *
picker(void *argument)
{
    int grapes = 10 + (int)(long)argument;
    for (int basket = 0; basket < 2; basket++) {
        while (!press(grapes)) {
            sched_yield();
        }
    }
    return NULL;
}

/* Draws off what is in the barrel, from time to time. */
static void *
cellar(void *argument)
{
    int *bottles = argument;
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&barrel.lock);
        *bottles += barrel.litres;
        barrel.litres = 0;
        sched_yield();
        pthread_mutex_unlock(&barrel.lock);
    }
    return NULL;
}

int
main(void)
{
    int bottles = 0;
    pthread_t pickers[PICKERS], cellarer;
    sem_init(&places, 0, PLACES);
    for (long i = 0; i < PICKERS; i++) {
        pthread_create(&pickers[i], NULL, picker, (void *)i);
    }
    pthread_create(&cellarer, NULL, cellar, &bottles);
    for (int i = 0; i < PICKERS; i++) {
        pthread_join(pickers[i], NULL);
    }
    pthread_join(cellarer, NULL);
    assert(pressed == 2 * PICKERS);
    sem_destroy(&places);
    printf("%d litres, %d postponed\n", barrel.litres + bottles, postponed);
    return 0;
}
