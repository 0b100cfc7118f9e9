/*
 * A cell that is filled once, by whoever comes first; a load may fail, and then another one tries.
 * Cause: cell_settle() (line 36) wakes one of those who wait when a load has failed, and its new state does not tell the next loader of the others.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EMPTY, BUSY, AWAITED, FULL };

struct cell {
    _Atomic int state;
    int value;
    int attempts;
};

static long futex(_Atomic int *word, int op, int value)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* The one that loads has finished, or has given up. */
static void cell_settle(struct cell *cell, int state)
{
    int before = atomic_exchange(&cell->state, state);
    if (before == AWAITED)
#ifdef FIXED
        futex(&cell->state, FUTEX_WAKE, INT_MAX);
#else
        futex(&cell->state, FUTEX_WAKE, state == FULL ? INT_MAX : 1);
#endif
}

static bool cell_load(struct cell *cell, int (*load)(int attempt, int *ret))
{
    int value;
    bool ok = load(cell->attempts++, &value) == 0;
    if (ok)
        cell->value = value;
    cell_settle(cell, ok ? FULL : EMPTY);
    return ok;
}

static int cell_get(struct cell *cell, int (*load)(int attempt, int *ret))
{
    for (;;) {
        int seen = atomic_load(&cell->state);
        if (seen == FULL)
            return cell->value;
        if (seen == EMPTY) {
            if (!atomic_compare_exchange_strong(&cell->state, &seen, BUSY))
                continue;
            if (cell_load(cell, load))
                return cell->value;
            return -1;
        }
        if (seen == BUSY && !atomic_compare_exchange_strong(&cell->state, &seen, AWAITED))
            continue;
        futex(&cell->state, FUTEX_WAIT, AWAITED);
    }
}

static struct cell config;

/* The file is there from the second look on. */
static int read_config(int attempt, int *ret)
{
    usleep(500);
    *ret = 40 + attempt;
    return attempt == 0 ? -1 : 0;
}

static void *reader(void *argument)
{
    int *got = argument;
    *got = cell_get(&config, read_config);
    return NULL;
}

int main(void)
{
    enum { READERS = 4 };
    pthread_t threads[READERS];
    int got[READERS], failed = 0;
    for (int i = 0; i < READERS; i++) {
        pthread_create(&threads[i], NULL, reader, &got[i]);
        usleep(400);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        failed += got[i] < 0;
    }
    printf("%d of %d failed, %d attempts\n", failed, READERS, config.attempts);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
