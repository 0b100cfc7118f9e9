/*
 * hands.c -- two threads hand a token to each other by a futex, 120,000 times, and count in memory
 * of their own: each wake is progress.
 *
 * Nothing in it is for rewake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HANDS 120000u

static atomic_uint turn;

static void *
play(void *argument)
{
    unsigned mine = argument != NULL;
    for (unsigned now = turn; now < HANDS; now = turn) {
        if (now % 2 == mine) {
            turn = now + 1;
            syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        } else {
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
        }
    }
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

int
main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, play, &other);
    play(NULL);
    return pthread_join(other, NULL);
}
