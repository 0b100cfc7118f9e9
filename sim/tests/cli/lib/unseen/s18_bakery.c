/* Cause: put_out(), line 26: one condition variable serves two kinds of customers, and pthread_cond_signal may wake one who wants the other kind, who goes back to sleep; repair: pthread_cond_broadcast. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum good { BREAD, CAKE, GOODS };

struct counter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int on_shelf[GOODS];
    int sold;
};

static struct counter counter = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
};

static void
put_out(enum good good)
{
    pthread_mutex_lock(&counter.lock);
    counter.on_shelf[good]++;
#ifndef FIXED
    pthread_cond_signal(&counter.changed);
#else
    pthread_cond_broadcast(&counter.changed);
#endif
    pthread_mutex_unlock(&counter.lock);
}

static void
buy(enum good good)
{
    pthread_mutex_lock(&counter.lock);
    while (counter.on_shelf[good] == 0) {
        pthread_cond_wait(&counter.changed, &counter.lock);
    }
    counter.on_shelf[good]--;
    counter.sold++;
    pthread_mutex_unlock(&counter.lock);
}

static void *
bread_customer(void *argument)
{
    (void)argument;
    buy(BREAD);
    return NULL;
}

static void *
cake_customer(void *argument)
{
    (void)argument;
    buy(CAKE);
    return NULL;
}

static void *
baker(void *argument)
{
    (void)argument;
    put_out(CAKE);
    put_out(BREAD);
    return NULL;
}

int
main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, bread_customer, NULL);
    pthread_create(&threads[1], NULL, cake_customer, NULL);
    pthread_create(&threads[2], NULL, baker, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(counter.sold == 2);
    printf("sold %d\n", counter.sold);
    return 0;
}
