/* A rope walk: spinners fill a small bin with yarn, one rope maker empties it at a stroke. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define SPINNERS 2
#define YARNS 4
#define BIN 3

struct bin {
    pthread_mutex_t mutex;
    pthread_cond_t filled; /* For the rope maker alone. */
    pthread_cond_t emptied;
    int yarn[BIN];
    int count;
    int spinning; /* Spinners that have not finished. */
    atomic_int hint; /* Of `count`, read without the mutex. */
};

static struct bin bin = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .filled = PTHREAD_COND_INITIALIZER,
    .emptied = PTHREAD_COND_INITIALIZER,
    .spinning = SPINNERS,
};

static void *spinner(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < YARNS; i++) {
        if (atomic_load(&bin.hint) == BIN)
            usleep(100); /* It looks full: spin a little longer, and look again. */
        pthread_mutex_lock(&bin.mutex);
        while (bin.count == BIN)
            pthread_cond_wait(&bin.emptied, &bin.mutex);
        bool was_empty = bin.count == 0;
        bin.yarn[bin.count++] = number * 100 + i;
        atomic_store(&bin.hint, bin.count);
        pthread_mutex_unlock(&bin.mutex);
        /* The rope maker waits for an empty bin only, and takes all: one signal is enough. */
        if (was_empty)
            pthread_cond_signal(&bin.filled);
    }
    pthread_mutex_lock(&bin.mutex);
    bool last = --bin.spinning == 0;
    pthread_mutex_unlock(&bin.mutex);
    if (last)
        pthread_cond_signal(&bin.filled);
    return NULL;
}

/* How many yarns were taken; 0: there will be none. */
static int take_all(int *ret)
{
    pthread_mutex_lock(&bin.mutex);
    while (bin.count == 0 && bin.spinning > 0)
        pthread_cond_wait(&bin.filled, &bin.mutex);
    int count = bin.count;
    for (int i = 0; i < count; i++)
        ret[i] = bin.yarn[i];
    bin.count = 0;
    atomic_store(&bin.hint, 0);
    pthread_mutex_unlock(&bin.mutex);
    if (count == BIN) /* Only then somebody can wait. */
        pthread_cond_broadcast(&bin.emptied);
    return count;
}

static void *rope_maker(void *argument)
{
    int *next = argument;
    int yarn[BIN], count;
    while ((count = take_all(yarn)) > 0) {
        for (int i = 0; i < count; i++) {
            assert(yarn[i] % 100 == next[yarn[i] / 100]);
            next[yarn[i] / 100]++;
        }
        if (count < BIN)
            sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[SPINNERS + 1];
    int numbers[SPINNERS] = {0, 1};
    int next[SPINNERS] = {0};
    pthread_create(&threads[SPINNERS], NULL, rope_maker, next);
    for (int i = 0; i < SPINNERS; i++)
        pthread_create(&threads[i], NULL, spinner, &numbers[i]);
    for (int i = 0; i <= SPINNERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SPINNERS; i++)
        assert(next[i] == YARNS);
    return 0;
}
