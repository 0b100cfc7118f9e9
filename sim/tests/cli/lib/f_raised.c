/* f_raised.c -- a user keeps its place while it waits until it is the only one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static int users;

static void
join(void)
{
    pthread_mutex_lock(&mutex);
    users++;
    pthread_mutex_unlock(&mutex);
}

static void
leave(void)
{
    pthread_mutex_lock(&mutex);
    users--;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&mutex);
}

static void
be_alone(void)
{
    pthread_mutex_lock(&mutex);
    while (users > 1) {
        pthread_cond_wait(&left, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void *
use(void *pause)
{
    for (int i = 0; i < 3; i++) {
        join();
        be_alone();
        leave();
        usleep(*(unsigned *)pause);
    }
    return NULL;
}

int
main(void)
{
    static unsigned pauses[2] = {100, 130};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, use, &pauses[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
