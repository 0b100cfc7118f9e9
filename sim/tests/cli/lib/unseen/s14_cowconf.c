/* A configuration that is replaced as a whole by each change, with threads that wait for a setting.
 * Cause: config_set() (line 69): the copy is made from a version that was current before the lock of the writers was
 * taken, so that a change between the two is undone. Repair: take the lock, then copy. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 4

struct config {
    int references;
    unsigned version;
    int values[KEYS];
};

static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER; /* The pointer, and counts. */
static pthread_cond_t replaced = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
static struct config *current;

static struct config *config_get(void)
{
    pthread_mutex_lock(&current_lock);
    struct config *c = current;
    c->references++;
    pthread_mutex_unlock(&current_lock);
    return c;
}

static void unreference(struct config *c)
{
    if (--c->references == 0)
        free(c);
}

static void config_put(struct config *c)
{
    pthread_mutex_lock(&current_lock);
    unreference(c);
    pthread_mutex_unlock(&current_lock);
}

static struct config *config_copy(const struct config *from)
{
    struct config *to = malloc(sizeof *to);
    memcpy(to, from, sizeof *to);
    to->references = 1;
    return to;
}

static void config_publish(struct config *c)
{
    pthread_mutex_lock(&current_lock);
    c->version = current->version + 1;
    unreference(current);
    current = c;
    pthread_cond_broadcast(&replaced);
    pthread_mutex_unlock(&current_lock);
}

static void config_set(int key, int value)
{
#ifdef FIXED
    pthread_mutex_lock(&writers);
    struct config *base = config_get();
#else
    struct config *base = config_get();
    pthread_mutex_lock(&writers);
#endif
    struct config *next = config_copy(base);
    next->values[key] = value;
    config_publish(next);
    pthread_mutex_unlock(&writers);
    config_put(base);
}

/* Waits until `key` has at least `value`. */
static unsigned config_await(int key, int value)
{
    pthread_mutex_lock(&current_lock);
    while (current->values[key] < value)
        pthread_cond_wait(&replaced, &current_lock);
    unsigned version = current->version;
    pthread_mutex_unlock(&current_lock);
    return version;
}

struct role {
    int sets, waits_for;
};

static void *service(void *argument)
{
    const struct role *role = argument;
    for (int value = 1; value <= 2; value++) {
        config_set(role->sets, value);
        struct config *seen = config_get();
        printf("%d: version %u\n", role->sets, seen->version);
        config_put(seen);
    }
    config_await(role->waits_for, 2);
    return NULL;
}

int main(void)
{
    static struct role roles[] = {{0, 1}, {1, 2}, {2, 0}};
    pthread_t threads[3];
    current = calloc(1, sizeof *current);
    current->references = 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, service, &roles[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    config_put(current);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
