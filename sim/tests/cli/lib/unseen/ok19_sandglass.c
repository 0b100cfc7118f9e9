/* sandglass: a workshop fills glasses; a foreman closes it; each that leaves sends the next one home. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BLOWERS 3
#define GLASSES 4

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_cond_t drained;
    atomic_int waiting; /* Glasses to be filled; written with the lock held. */
    int filled;
    bool closed;
} shop = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

static void bring(void)
{
    pthread_mutex_lock(&shop.lock);
    atomic_fetch_add(&shop.waiting, 1);
    pthread_mutex_unlock(&shop.lock);
    pthread_cond_signal(&shop.changed);
}

static void close_shop(void)
{
    pthread_mutex_lock(&shop.lock);
    shop.closed = true;
    pthread_mutex_unlock(&shop.lock);
    pthread_cond_signal(&shop.changed);
}

static bool take(void)
{
    bool taken = false;
    if (atomic_load(&shop.waiting) == 0)
        return false;
    pthread_mutex_lock(&shop.lock);
    if (atomic_load(&shop.waiting) > 0) {
        atomic_fetch_sub(&shop.waiting, 1);
        taken = true;
    }
    pthread_mutex_unlock(&shop.lock);
    return taken;
}

static void *blower_main(void *argument)
{
    for (;;) {
        while (take()) {
            usleep(300);
            pthread_mutex_lock(&shop.lock);
            bool last = ++shop.filled == GLASSES;
            pthread_mutex_unlock(&shop.lock);
            if (last)
                pthread_cond_signal(&shop.drained);
        }
        pthread_mutex_lock(&shop.lock);
        while (atomic_load(&shop.waiting) == 0 && !shop.closed)
            pthread_cond_wait(&shop.changed, &shop.lock);
        bool home = atomic_load(&shop.waiting) == 0;
        pthread_mutex_unlock(&shop.lock);
        if (home)
            break;
    }
    pthread_cond_signal(&shop.changed);
    return argument;
}

int main(void)
{
    pthread_t blowers[BLOWERS];
    for (int i = 0; i < BLOWERS; i++)
        pthread_create(&blowers[i], NULL, blower_main, NULL);
    for (int i = 0; i < GLASSES; i++)
        bring();
    pthread_mutex_lock(&shop.lock);
    while (shop.filled < GLASSES) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        int error = pthread_cond_timedwait(&shop.drained, &shop.lock, &until);
        assert(error == 0 || error == ETIMEDOUT);
    }
    pthread_mutex_unlock(&shop.lock);
    close_shop();
    for (int i = 0; i < BLOWERS; i++)
        pthread_join(blowers[i], NULL);
    assert(shop.filled == GLASSES);
    printf("%d glasses\n", shop.filled);
    return 0;
}
