// Cause: s5_mailbag.c:39 deliver() posts only if the semaphore is zero, as if one post said "look into the bag", but the sorter takes one letter per post: of two letters that come before it runs, one has no post, and in the end the sorter sleeps beside a letter.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CARRIERS 3
#define LETTERS 3

struct letter {
    struct letter *next;
    int carrier, number;
};

static struct {
    pthread_mutex_t lock;
    struct letter *top;
    sem_t letters;
} bag = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void deliver(int carrier, int number)
{
    struct letter *letter = malloc(sizeof *letter);
    if (!letter)
        abort();
    letter->carrier = carrier;
    letter->number = number;
    pthread_mutex_lock(&bag.lock);
    letter->next = bag.top;
    bag.top = letter;
    pthread_mutex_unlock(&bag.lock);
#ifndef FIXED
    int value;
    sem_getvalue(&bag.letters, &value);
    if (value > 0)
        return;
#endif
    sem_post(&bag.letters);
}

static struct letter *collect(void)
{
    while (sem_wait(&bag.letters) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&bag.lock);
    struct letter *letter = bag.top;
    if (letter)
        bag.top = letter->next;
    pthread_mutex_unlock(&bag.lock);
    return letter;
}

static void *carrier(void *arg)
{
    int id = (int)(size_t)arg;
    for (int i = 0; i < LETTERS; i++) {
        usleep(400 + 250 * (useconds_t)id); /* the way to the next house */
        deliver(id, i);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CARRIERS];
    int sorted[CARRIERS] = {0};
    sem_init(&bag.letters, 0, 0);
    for (size_t i = 0; i < CARRIERS; i++)
        pthread_create(&threads[i], NULL, carrier, (void *)i);
    for (int left = CARRIERS * LETTERS; left > 0;) {
        struct letter *letter = collect();
        if (!letter)
            continue;
        sorted[letter->carrier]++;
        free(letter);
        left--;
    }
    for (int i = 0; i < CARRIERS; i++) {
        pthread_join(threads[i], NULL);
        printf("carrier %d: %d letters\n", i, sorted[i]);
    }
    sem_destroy(&bag.letters);
    return 0;
}
