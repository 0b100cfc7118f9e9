/* Cause: wall_changed(), line 35: one condition variable serves four kinds of waiters (space or parcel, small or large), but only one of them is signalled; if that one cannot use the change it waits again and the wake-up is swallowed, so that another one waits forever; repair: pthread_cond_broadcast. */
/*
 * A wall of parcel lockers: couriers put parcels into compartments of two sizes, customers
 * collect them.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum size { SMALL, LARGE, SIZES };

#define PARCELS 2

struct wall {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int room[SIZES];   /* Compartments that are empty. */
    int stored[SIZES]; /* Parcels that wait for their customer. */
    int collected;
};

static struct wall wall = {
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .room = {1, 1},
};

/* The number of parcels or of empty compartments is another one now. Called with the mutex. */
static void wall_changed(struct wall *w)
{
#ifdef FIXED
    pthread_cond_broadcast(&w->changed);
#else
    pthread_cond_signal(&w->changed);
#endif
}

static void wall_store(struct wall *w, enum size size)
{
    pthread_mutex_lock(&w->mutex);
    while (w->room[size] == 0)
        pthread_cond_wait(&w->changed, &w->mutex);
    w->room[size]--;
    w->stored[size]++;
    wall_changed(w);
    pthread_mutex_unlock(&w->mutex);
}

static void wall_collect(struct wall *w, enum size size)
{
    pthread_mutex_lock(&w->mutex);
    while (w->stored[size] == 0)
        pthread_cond_wait(&w->changed, &w->mutex);
    w->stored[size]--;
    w->room[size]++;
    w->collected++;
    wall_changed(w);
    pthread_mutex_unlock(&w->mutex);
}

static void *courier(void *argument)
{
    enum size size = (enum size)(intptr_t)argument;
    for (int i = 0; i < PARCELS; i++)
        wall_store(&wall, size);
    return NULL;
}

static void *customer(void *argument)
{
    enum size size = (enum size)(intptr_t)argument;
    for (int i = 0; i < PARCELS; i++)
        wall_collect(&wall, size);
    return NULL;
}

int main(void)
{
    pthread_t couriers[SIZES], customers[SIZES];
    for (intptr_t size = 0; size < SIZES; size++) {
        pthread_create(&customers[size], NULL, customer, (void *)size);
        pthread_create(&couriers[size], NULL, courier, (void *)size);
    }
    for (int size = 0; size < SIZES; size++) {
        pthread_join(couriers[size], NULL);
        pthread_join(customers[size], NULL);
    }
    assert(wall.collected == PARCELS * SIZES);
    printf("%d parcels collected\n", wall.collected);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
