/* Cause: announce() (28) uses pthread_cond_signal on the one condition variable moved on which both the captain (cross, 57: deck full) and the cars (board, 36: gate open) wait; the signal of cross (55) or board (39) wakes one waiter whose predicate is still false (the captain, when a car was meant) or only one of two waiting cars, and that one does not pass it on, so a waiting car or the captain sleeps forever. Needs broadcast. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define DECK 2
#define CROSSINGS 2
#define CARS (DECK * CROSSINGS)

struct ferry {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool gate_open;
    int on_deck;
    int carried;
    int tickets[CARS];
};

static struct ferry ferry = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0, {0}};

static void announce(struct ferry *f)
{
#ifdef FIXED
    pthread_cond_broadcast(&f->moved);
#else
    pthread_cond_signal(&f->moved);
#endif
}

static void board(struct ferry *f, int ticket)
{
    pthread_mutex_lock(&f->lock);
    while (!f->gate_open || f->on_deck == DECK)
        pthread_cond_wait(&f->moved, &f->lock);
    f->tickets[ticket]++;
    f->on_deck++;
    announce(f);
    pthread_mutex_unlock(&f->lock);
}

static void *car_main(void *argument)
{
    int ticket = (int)(long)argument;
    usleep(1000);
    board(&ferry, ticket);
    return NULL;
}

static void cross(struct ferry *f)
{
    pthread_mutex_lock(&f->lock);
    f->gate_open = true;
    announce(f);
    while (f->on_deck < DECK)
        pthread_cond_wait(&f->moved, &f->lock);
    f->gate_open = false;
    pthread_mutex_unlock(&f->lock);

    usleep(3000);

    pthread_mutex_lock(&f->lock);
    f->carried += f->on_deck;
    f->on_deck = 0;
    pthread_mutex_unlock(&f->lock);
}

static void *captain_main(void *argument)
{
    struct ferry *f = argument;
    for (int i = 0; i < CROSSINGS; i++)
        cross(f);
    return NULL;
}

int main(void)
{
    pthread_t captain, cars[CARS];
    pthread_create(&captain, NULL, captain_main, &ferry);
    for (long i = 0; i < CARS; i++)
        pthread_create(&cars[i], NULL, car_main, (void *)i);
    for (int i = 0; i < CARS; i++)
        pthread_join(cars[i], NULL);
    pthread_join(captain, NULL);
    for (int i = 0; i < CARS; i++)
        assert(ferry.tickets[i] == 1);
    assert(ferry.carried == CARS);
    printf("%d cars carried\n", ferry.carried);
    return 0;
}
