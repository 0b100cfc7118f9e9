/* f_other.c -- gives up the load of a key and wakes no one who waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <unistd.h>

enum state { NONE, LOADS, LOADED };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum state keys[2];
static int refusals;

static int
load(int key)
{
    usleep(key == 0 ? 60 : 200);
    return key == 0 || refusals++ > 0;
}

static int
get(int key)
{
    pthread_mutex_lock(&mutex);
    while (keys[key] == LOADS) {
        pthread_cond_wait(&changed, &mutex);
    }
    if (keys[key] == LOADED) {
        pthread_mutex_unlock(&mutex);
        return 1;
    }
    keys[key] = LOADS;
    pthread_mutex_unlock(&mutex);
    int loaded = load(key);
    pthread_mutex_lock(&mutex);
    if (loaded) {
        keys[key] = LOADED;
        pthread_cond_broadcast(&changed);
    } else {
        keys[key] = NONE;
    }
    pthread_mutex_unlock(&mutex);
    return loaded;
}

static void *
client(void *pause)
{
    (void)get(0);
    usleep(*(unsigned *)pause);
    (void)get(1);
    return NULL;
}

int
main(void)
{
    static unsigned pauses[2] = {10, 120};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, client, &pauses[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
