/*
 * after.c -- what runs between a call that has woken a thread and the next call: the woken thread
 * frees the object, and the waker writes to it. `after unlock`, `after signal`, `after post`;
 * with `fixed` the waker writes before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

struct object {
    sem_t done;
    int ready;
    long count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct object *volatile object;
static const char *how;
static int fixed;

static void *
finish(void *argument)
{
    struct object *mine = argument;
    mine->count += fixed;
    if (strcmp(how, "post") == 0) {
        sem_post(&mine->done);
    } else {
        pthread_mutex_lock(&mutex);
        mine->ready = 1;
        if (strcmp(how, "signal") == 0) {
            pthread_mutex_unlock(&mutex);
            pthread_cond_signal(&changed);
        } else {
            pthread_mutex_unlock(&mutex);
        }
    }
    mine->count += !fixed;
    return NULL;
}

/* Looks for it, or sleeps. */
static void
await(struct object *mine)
{
    int ready = 0;
    if (strcmp(how, "post") == 0) {
        sem_wait(&mine->done);
        return;
    }
    while (!ready) {
        pthread_mutex_lock(&mutex);
        while (strcmp(how, "signal") == 0 && !mine->ready) {
            pthread_cond_wait(&changed, &mutex);
        }
        ready = mine->ready;
        pthread_mutex_unlock(&mutex);
    }
}

int
main(int argc, char **argv)
{
    pthread_t thread;
    how = argc > 1 ? argv[1] : "post";
    fixed = argc > 2;
    object = calloc(1, sizeof(*object));
    sem_init(&object->done, 0, 0);
    pthread_create(&thread, NULL, finish, object);
    await(object);
    memset((void *)object, 0, sizeof(*object));
    free((void *)object);
    pthread_join(thread, NULL);
    return 0;
}
