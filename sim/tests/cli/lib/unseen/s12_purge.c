/*
 * A bounded mailbox with two semaphores; a supervisor throws away what is in it now and then.
 * Cause: box_take() (line 65) waits again for an item that box_purge() took, and does not post the space of the item that it was promised.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define SPACES 2
#define LAST -1

struct box {
    pthread_mutex_t lock;
    sem_t items, spaces;
    int letters[SPACES];
    unsigned head, count;
    unsigned long purged;
};

static void box_init(struct box *box)
{
    pthread_mutex_init(&box->lock, NULL);
    sem_init(&box->items, 0, 0);
    sem_init(&box->spaces, 0, SPACES);
    box->head = box->count = 0;
    box->purged = 0;
}

static void box_put(struct box *box, int letter)
{
    sem_wait(&box->spaces);
    pthread_mutex_lock(&box->lock);
    box->letters[(box->head + box->count) % SPACES] = letter;
    box->count++;
    pthread_mutex_unlock(&box->lock);
    sem_post(&box->items);
}

static bool box_pop(struct box *box, int *letter)
{
    bool any;
    pthread_mutex_lock(&box->lock);
    any = box->count > 0;
    if (any) {
        *letter = box->letters[box->head];
        box->head = (box->head + 1) % SPACES;
        box->count--;
    }
    pthread_mutex_unlock(&box->lock);
    return any;
}

static int box_take(struct box *box)
{
    int letter;
    for (;;) {
        sem_wait(&box->items);
        if (box_pop(box, &letter))
            break;
#ifdef FIXED
        sem_post(&box->spaces);
#else
        continue;
#endif
    }
    sem_post(&box->spaces);
    return letter;
}

/* Throws away all but the last letter. */
static void box_purge(struct box *box)
{
    unsigned freed = 0;
    pthread_mutex_lock(&box->lock);
    for (unsigned i = box->count; i > 0 && box->letters[box->head] != LAST; i--) {
        box->head = (box->head + 1) % SPACES;
        box->count--;
        box->purged++;
        if (sem_trywait(&box->items) == 0)
            freed++;
    }
    pthread_mutex_unlock(&box->lock);
    while (freed-- > 0)
        sem_post(&box->spaces);
}

static struct box box;

static void *reader(void *argument)
{
    long read = 0;
    while (box_take(&box) != LAST)
        read++;
    return (void *)read;
}

static void *supervisor(void *argument)
{
    for (int i = 0; i < 4; i++) {
        usleep(200);
        box_purge(&box);
    }
    return NULL;
}

static void *writer(void *argument)
{
    for (int i = 0; i < 8; i++) {
        box_put(&box, i);
        usleep(100);
    }
    return NULL;
}

int main(void)
{
    pthread_t readers[2], others[2];
    long read = 0;
    box_init(&box);
    for (int i = 0; i < 2; i++)
        pthread_create(&readers[i], NULL, reader, NULL);
    pthread_create(&others[0], NULL, supervisor, NULL);
    pthread_create(&others[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    for (int i = 0; i < 2; i++)
        box_put(&box, LAST);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(readers[i], &result);
        read += (long)result;
    }
    printf("%ld read, %lu purged\n", read, box.purged);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
