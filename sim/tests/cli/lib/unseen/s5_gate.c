// Cause: s5_gate.c:57 gate_wait() reads the futex word only after it has checked the round: if the coordinator advances the round in between, the word has its new value already, FUTEX_WAIT accepts it and sleeps, and the one wake for this round is over.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKERS 3
#define ROUNDS 3

/* A gate that opens round by round. The word changes with each opening. */
struct gate {
    atomic_int word;
    atomic_int round;
};

static struct gate gate;
static sem_t reported;
static int sums[WORKERS];

static void futex_wait(atomic_int *word, int value)
{
    /* EINTR and EAGAIN: the caller looks again. */
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake_all(atomic_int *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void gate_open(struct gate *g, int round)
{
    atomic_store(&g->round, round);
    atomic_fetch_add(&g->word, 1);
    futex_wake_all(&g->word);
}

static void gate_wait(struct gate *g, int round)
{
#ifdef FIXED
    for (;;) {
        int seen = atomic_load(&g->word);
        if (atomic_load(&g->round) >= round)
            return;
        futex_wait(&g->word, seen);
    }
#else
    while (atomic_load(&g->round) < round) {
        int seen = atomic_load(&g->word);
        futex_wait(&g->word, seen);
    }
#endif
}

static void *worker(void *arg)
{
    int *sum = arg;
    for (int round = 1; round <= ROUNDS; round++) {
        gate_wait(&gate, round);
        for (int i = 0; i < 100; i++)
            *sum += i * round;
        sem_post(&reported);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int total = 0;
    sem_init(&reported, 0, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, &sums[i]);
    for (int round = 1; round <= ROUNDS; round++) {
        gate_open(&gate, round);
        for (int i = 0; i < WORKERS; i++)
            while (sem_wait(&reported) < 0 && errno == EINTR)
                continue;
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    printf("total %d\n", total);
    return 0;
}
