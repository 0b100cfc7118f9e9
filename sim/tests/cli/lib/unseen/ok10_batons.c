// Correct. It was accused of a late wake-up: the time-out of a thread that oversleeps is
// over before it looks.
// SPDX-License-Identifier: Apache-2.0
/*
 * A queue of threads for one printer: each waits on a condition variable of its own, on its stack, and
 * is given the printer by name; one that loses patience takes itself out of the queue, unless the
 * printer was given to it in the same moment.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

struct turn {
    struct turn *next;
    pthread_cond_t given_to_me;
    bool given;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct turn *first;
static bool in_use;
static int pages;
static int gave_up;

static void
remove_turn(struct turn *turn)
{
    struct turn **link = &first;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
}

/* False: it was not free in time. */
static bool
printer_take(long patience_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    if (!in_use) {
        in_use = true;
        pthread_mutex_unlock(&mutex);
        return true;
    }
    struct turn turn = {.next = NULL, .given = false};
    pthread_cond_init(&turn.given_to_me, NULL);
    struct turn **end = &first;
    while (*end != NULL)
        end = &(*end)->next;
    *end = &turn;
    int error = 0;
    while (!turn.given && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&turn.given_to_me, &mutex, &until);
    if (!turn.given)
        remove_turn(&turn);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&turn.given_to_me);
    return turn.given;
}

/* The signal is sent with the lock held: `turn` is gone as soon as its owner has it. */
static void
printer_give(void)
{
    pthread_mutex_lock(&mutex);
    struct turn *turn = first;
    if (turn == NULL) {
        in_use = false;
    } else {
        first = turn->next;
        turn->given = true;
        pthread_cond_signal(&turn->given_to_me);
    }
    pthread_mutex_unlock(&mutex);
}

static void *
print_main(void *argument)
{
    long patience_ms = (long)argument;
    for (int i = 0; i < 3; i++) {
        if (printer_take(patience_ms)) {
            int before = pages;
            usleep(2000);
            assert(pages == before);
            pages++;
            printer_give();
        } else {
            pthread_mutex_lock(&mutex);
            gave_up++;
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, print_main, (void *)(i % 2 == 0 ? 1000L : 3L));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(first == NULL && !in_use && pages + gave_up == 3 * THREADS);
    puts("printed");
    return 0;
}
