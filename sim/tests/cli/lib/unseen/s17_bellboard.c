/* Cause: next_call(), line 66: the board's sequence number is read after the list of calls was found empty; a call that is entered and rung in between has raised the number already, so board_sleep() finds it unchanged and sleeps although there is a call, with nobody left to ring; repair: read the number before looking into the list. */
/*
 * A bell board in a hotel: rooms enter a call and ring, a porter answers all calls. The porter
 * sleeps on a sequence number (a futex) that each ring raises.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOMS 2
#define CALLS 3

struct board {
    atomic_uint sequence;
    pthread_mutex_t mutex; /* Protects the list. */
    int list[ROOMS * CALLS];
    int count;
};

static struct board board = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void board_ring(struct board *b)
{
    atomic_fetch_add(&b->sequence, 1);
    syscall(SYS_futex, &b->sequence, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Sleeps unless there was a ring since `seen` was read. */
static void board_sleep(struct board *b, unsigned seen)
{
    syscall(SYS_futex, &b->sequence, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void board_enter(struct board *b, int room)
{
    pthread_mutex_lock(&b->mutex);
    assert(b->count < ROOMS * CALLS);
    b->list[b->count++] = room;
    pthread_mutex_unlock(&b->mutex);
    board_ring(b);
}

/* Takes the newest call; -1: there is none. */
static int board_take(struct board *b)
{
    pthread_mutex_lock(&b->mutex);
    int room = b->count > 0 ? b->list[--b->count] : -1;
    pthread_mutex_unlock(&b->mutex);
    return room;
}

static int next_call(struct board *b)
{
    for (;;) {
#ifdef FIXED
        unsigned seen = atomic_load(&b->sequence);
        int room = board_take(b);
#else
        int room = board_take(b);
        unsigned seen = atomic_load(&b->sequence);
#endif
        if (room >= 0)
            return room;
        board_sleep(b, seen);
    }
}

static void *porter(void *argument)
{
    int *answered = argument;
    for (int i = 0; i < ROOMS * CALLS; i++)
        answered[next_call(&board)]++;
    return NULL;
}

static void *guest(void *argument)
{
    for (int i = 0; i < CALLS; i++)
        board_enter(&board, (int)(intptr_t)argument);
    return NULL;
}

int main(void)
{
    int answered[ROOMS] = {0};
    pthread_t on_duty, guests[ROOMS];
    pthread_create(&on_duty, NULL, porter, answered);
    for (intptr_t i = 0; i < ROOMS; i++)
        pthread_create(&guests[i], NULL, guest, (void *)i);
    for (int i = 0; i < ROOMS; i++)
        pthread_join(guests[i], NULL);
    pthread_join(on_duty, NULL);
    for (int i = 0; i < ROOMS; i++)
        assert(answered[i] == CALLS);
    printf("all answered\n");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
