/* f_returned.c -- waits for a bit to differ from the one it has seen: two turns are none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <unistd.h>

#define TURNS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int bit;
static int turns;

static void
turn(void)
{
    pthread_mutex_lock(&mutex);
    bit = !bit;
    turns++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
}

static void *
follow(void *argument)
{
    int seen = 0;
    int last = 0;
    while (last < TURNS) {
        pthread_mutex_lock(&mutex);
        while (bit == seen) {
            pthread_cond_wait(&turned, &mutex);
        }
        seen = bit;
        last = turns;
        pthread_mutex_unlock(&mutex);
        usleep(80);
    }
    return argument;
}

int
main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, follow, NULL);
    for (int i = 0; i < TURNS; i++) {
        usleep(100);
        turn();
    }
    pthread_join(thread, NULL);
    return 0;
}
