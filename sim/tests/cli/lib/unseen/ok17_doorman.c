/*
 * A club closes: guests wait for a table or for closing time. Closing signals one of them only,
 * after the unlock; each guest that learns of it signals the next one before it leaves. A free
 * table is looked for without the mutex at first.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#define GUESTS 3
#define TABLES 2

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_int tables; /* Changed with the mutex only. */
    bool closed;
    int seated, sent_home;
} club = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* With the mutex. */
static bool sit_down(void)
{
    if (atomic_load(&club.tables) == 0)
        return false;
    atomic_fetch_sub(&club.tables, 1);
    club.seated++;
    /* Whoever waits may have been passed over by the signal that this guest has used. */
    pthread_cond_signal(&club.changed);
    return true;
}

static void *guest(void *argument)
{
    bool looks_free = atomic_load(&club.tables) > 0; /* A hint: it decides about the greeting. */
    if (looks_free)
        printf("good evening\n");
    pthread_mutex_lock(&club.mutex);
    bool seated = sit_down();
    while (!seated && !club.closed) {
        pthread_cond_wait(&club.changed, &club.mutex);
        seated = sit_down();
    }
    if (!seated)
        club.sent_home++;
    bool pass_on = club.closed;
    pthread_mutex_unlock(&club.mutex);
    if (pass_on)
        pthread_cond_signal(&club.changed);
    return argument;
}

static void free_table(void)
{
    pthread_mutex_lock(&club.mutex);
    atomic_fetch_add(&club.tables, 1);
    pthread_mutex_unlock(&club.mutex);
    pthread_cond_signal(&club.changed);
}

static void close_club(void)
{
    pthread_mutex_lock(&club.mutex);
    club.closed = true;
    pthread_mutex_unlock(&club.mutex);
    pthread_cond_signal(&club.changed);
}

int main(void)
{
    pthread_t guests[GUESTS];
    for (int i = 0; i < GUESTS; i++)
        pthread_create(&guests[i], NULL, guest, NULL);
    for (int i = 0; i < TABLES; i++)
        free_table();
    close_club();
    for (int i = 0; i < GUESTS; i++)
        pthread_join(guests[i], NULL);
    assert(club.seated + club.sent_home == GUESTS);
    printf("closed\n");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
