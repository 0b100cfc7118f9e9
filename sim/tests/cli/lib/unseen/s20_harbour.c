/* Cause: harbour_changed(), line 32: one condition variable for two kinds of waiters, ships (40) and tugs (51), and pthread_cond_signal. Order: a tug clears the berth and signals (59), and what is woken is the other tug, which finds the berth empty and waits again, while a ship waits for the berth (or a ship's signal wakes a ship). The waiter that could go on is not woken. Harm: lost wake-up. Fix: broadcast (30). */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define SHIPS 3
#define TUGS 2

struct harbour {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int berth; /* The ship that lies there; 0: none. */
    unsigned expected; /* Ships not served yet. */
    unsigned cargo;
};

struct ship {
    struct harbour *harbour;
    int number;
    unsigned cargo;
};

static unsigned cargo_of[SHIPS + 1] = {0, 10, 20, 40};

static void harbour_changed(struct harbour *harbour)
{
#ifdef FIXED
    pthread_cond_broadcast(&harbour->changed);
#else
    pthread_cond_signal(&harbour->changed);
#endif
}

static void harbour_enter(struct harbour *harbour, int ship)
{
    pthread_mutex_lock(&harbour->mutex);
    while (harbour->berth != 0)
        pthread_cond_wait(&harbour->changed, &harbour->mutex);
    harbour->berth = ship;
    harbour_changed(harbour);
    pthread_mutex_unlock(&harbour->mutex);
}

/* The ship that was unloaded; 0: no more are expected. */
static int harbour_unload(struct harbour *harbour)
{
    pthread_mutex_lock(&harbour->mutex);
    while (harbour->berth == 0 && harbour->expected > 0)
        pthread_cond_wait(&harbour->changed, &harbour->mutex);
    int ship = harbour->berth;
    if (ship != 0) {
        harbour->berth = 0;
        harbour->cargo += cargo_of[ship];
        if (--harbour->expected == 0)
            pthread_cond_broadcast(&harbour->changed);
        else
            harbour_changed(harbour);
    }
    pthread_mutex_unlock(&harbour->mutex);
    return ship;
}

static void *ship_main(void *argument)
{
    struct ship *ship = argument;
    usleep(300);
    harbour_enter(ship->harbour, ship->number);
    return NULL;
}

static void *tug_main(void *argument)
{
    struct harbour *harbour = argument;
    while (harbour_unload(harbour) != 0)
        usleep(500);
    return NULL;
}

int main(void)
{
    struct harbour harbour = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .changed = PTHREAD_COND_INITIALIZER,
            .expected = SHIPS};
    struct ship ships[SHIPS];
    pthread_t ship_threads[SHIPS], tugs[TUGS];
    unsigned expected_cargo = 0;
    for (int i = 0; i < TUGS; i++)
        pthread_create(&tugs[i], NULL, tug_main, &harbour);
    for (int i = 0; i < SHIPS; i++) {
        ships[i] = (struct ship){&harbour, i + 1, cargo_of[i + 1]};
        expected_cargo += ships[i].cargo;
        pthread_create(&ship_threads[i], NULL, ship_main, &ships[i]);
    }
    for (int i = 0; i < SHIPS; i++)
        pthread_join(ship_threads[i], NULL);
    for (int i = 0; i < TUGS; i++)
        pthread_join(tugs[i], NULL);
    assert(harbour.cargo == expected_cargo);
    printf("%u tons unloaded\n", harbour.cargo);
    pthread_cond_destroy(&harbour.changed);
    pthread_mutex_destroy(&harbour.mutex);
    return 0;
}
