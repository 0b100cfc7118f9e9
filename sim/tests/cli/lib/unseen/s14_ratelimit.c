/* A token bucket that a refill thread fills by a timerfd, and requests of different cost that wait for tokens.
 * Cause: bucket_refill() (line 49): the waiters are only told when the bucket was empty before, but a request that
 * costs more than what is left waits with tokens in it. Repair: tell them whenever tokens were added. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BURST 4
#define REQUESTS 2
#define CLIENTS 2

struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t refilled;
    unsigned tokens;
    unsigned burst;
    unsigned waiting;
    bool closed;
};

static struct bucket bucket = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .refilled = PTHREAD_COND_INITIALIZER, .tokens = 2, .burst = BURST};

static void bucket_take(struct bucket *b, unsigned cost)
{
    assert(cost <= b->burst);
    pthread_mutex_lock(&b->lock);
    b->waiting++;
    while (b->tokens < cost)
        pthread_cond_wait(&b->refilled, &b->lock);
    b->waiting--;
    b->tokens -= cost;
    pthread_mutex_unlock(&b->lock);
}

static void bucket_refill(struct bucket *b, unsigned tokens)
{
    pthread_mutex_lock(&b->lock);
    bool was_empty = b->tokens == 0;
    b->tokens = b->tokens + tokens > b->burst ? b->burst : b->tokens + tokens;
#ifdef FIXED
    (void)was_empty;
    if (b->waiting > 0)
#else
    if (was_empty && b->waiting > 0)
#endif
        pthread_cond_broadcast(&b->refilled);
    pthread_mutex_unlock(&b->lock);
}

static bool bucket_is_closed(struct bucket *b)
{
    pthread_mutex_lock(&b->lock);
    bool closed = b->closed && b->waiting == 0;
    /* A full bucket that no one wants needs no further tick. */
    bool idle = b->tokens == b->burst;
    pthread_mutex_unlock(&b->lock);
    return closed || (idle && b->closed);
}

static void *refiller(void *argument)
{
    struct bucket *b = argument;
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {.it_value = {.tv_nsec = 2000000}, .it_interval = {.tv_nsec = 2000000}};
    uint64_t ticks;
    assert(timer >= 0 && timerfd_settime(timer, 0, &every, NULL) == 0);
    for (int left = 12; left > 0 && !bucket_is_closed(b);) {
        if (read(timer, &ticks, sizeof ticks) != sizeof ticks)
            continue;
        bucket_refill(b, (unsigned)ticks * 2);
        left -= (int)ticks;
    }
    close(timer);
    return NULL;
}

static void *client(void *argument)
{
    static const unsigned cost[CLIENTS][REQUESTS] = {{1, 2}, {1, 1}};
    long number = (long)argument;
    for (int i = 0; i < REQUESTS; i++) {
        bucket_take(&bucket, cost[number][i]);
        usleep(1000);
    }
    return NULL;
}

int main(void)
{
    pthread_t refill, clients[CLIENTS];
    pthread_create(&refill, NULL, refiller, &bucket);
    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_mutex_lock(&bucket.lock);
    bucket.closed = true;
    pthread_mutex_unlock(&bucket.lock);
    pthread_join(refill, NULL);
    printf("%d requests\n", CLIENTS * REQUESTS);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
