/* Cause: deliver(), line 66: the ticket names the order by its slot alone, and any order that has the slot now is taken for it. Order: a customer's time is up (113) while the oven bakes for it, or before it came to it; the slot is given back (120); the next order takes the same slot (order_place 52); the oven finishes the old loaf and delivers it to the new order (70). Harm: assert 115. Fix: compare the serial of the order with that of the ticket (64), which goes away with the slot's first owner. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 2
#define QUEUE 16

struct order {
    bool taken;
    unsigned serial;
    const char *wanted;
    const char *loaf; /* NULL: not baked yet. */
};

struct ticket {
    int slot; /* -1: the bakery closes. */
    unsigned serial;
    const char *recipe;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t baked;
    pthread_cond_t filled;
    struct order orders[SLOTS];
    struct ticket queue[QUEUE];
    unsigned first, count;
    unsigned serial;
    unsigned sold, missed;
} bakery = {.mutex = PTHREAD_MUTEX_INITIALIZER,
        .baked = PTHREAD_COND_INITIALIZER,
        .filled = PTHREAD_COND_INITIALIZER};

static void queue_put(struct ticket ticket)
{
    assert(bakery.count < QUEUE);
    bakery.queue[(bakery.first + bakery.count++) % QUEUE] = ticket;
    pthread_cond_signal(&bakery.filled);
}

static int order_place(const char *recipe)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        struct order *order = &bakery.orders[slot];
        if (!order->taken) {
            *order = (struct order){true, ++bakery.serial, recipe, NULL};
            queue_put((struct ticket){slot, order->serial, recipe});
            return slot;
        }
    }
    return -1;
}

static void deliver(const struct ticket *ticket)
{
    struct order *order = &bakery.orders[ticket->slot];
#ifdef FIXED
    if (!order->taken || order->serial != ticket->serial) {
#else
    if (!order->taken) {
#endif
        return; /* The customer has left. */
    }
    order->loaf = ticket->recipe;
    pthread_cond_broadcast(&bakery.baked);
}

static void *oven(void *argument)
{
    pthread_mutex_lock(&bakery.mutex);
    for (;;) {
        while (bakery.count == 0)
            pthread_cond_wait(&bakery.filled, &bakery.mutex);
        struct ticket ticket = bakery.queue[bakery.first];
        bakery.first = (bakery.first + 1) % QUEUE;
        bakery.count--;
        if (ticket.slot < 0)
            break;
        pthread_mutex_unlock(&bakery.mutex);
        usleep(2000);
        pthread_mutex_lock(&bakery.mutex);
        deliver(&ticket);
    }
    pthread_mutex_unlock(&bakery.mutex);
    return argument;
}

static void buy(const char *recipe)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 15 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&bakery.mutex);
    int slot = order_place(recipe);
    if (slot < 0) {
        bakery.missed++;
        pthread_mutex_unlock(&bakery.mutex);
        return;
    }
    struct order *order = &bakery.orders[slot];
    int error = 0;
    while (order->loaf == NULL && error == 0)
        error = pthread_cond_timedwait(&bakery.baked, &bakery.mutex, &until);
    if (order->loaf != NULL) {
        assert(strcmp(order->loaf, order->wanted) == 0);
        bakery.sold++;
    } else {
        bakery.missed++;
    }
    order->taken = false;
    pthread_mutex_unlock(&bakery.mutex);
}

static void *customer(void *argument)
{
    const char *const *recipes = argument;
    for (; *recipes != NULL; recipes++)
        buy(*recipes);
    return NULL;
}

int main(void)
{
    static const char *const mornings[] = {"rye", "wheat", "spelt", NULL};
    static const char *const evenings[] = {"barley", "oat", NULL};
    pthread_t baker, anna, bert;
    pthread_create(&baker, NULL, oven, NULL);
    pthread_create(&anna, NULL, customer, (void *)mornings);
    pthread_create(&bert, NULL, customer, (void *)evenings);
    pthread_join(anna, NULL);
    pthread_join(bert, NULL);
    pthread_mutex_lock(&bakery.mutex);
    queue_put((struct ticket){-1, 0, NULL});
    pthread_mutex_unlock(&bakery.mutex);
    pthread_join(baker, NULL);
    assert(bakery.sold + bakery.missed == 5);
    printf("%u sold\n", bakery.sold);
    return 0;
}
