/*
 * tokio-5041.c -- a steal succeeds although the queue's index has wrapped around meanwhile.
 *
 * tokio-rs/tokio#5041, repaired by #5042.
 *
 * The bug. A worker has a queue of bounded size, whose head is an index of 16 bits. A stealer reads
 * head and the task there, and takes it by a compare-and-exchange of head. Where the worker takes
 * exactly 2^16 tasks in between, head is the same again, and the stealer has a task that has run.
 *
 * The fix. Wider indices, of 32 bits.
 *
 * Here. The narrow index has 3 bits, so that 8 tasks wrap it. Each task runs once and is freed.
 *
 * Cause: not-a-wake in steal or pop
 * Must end in: contract, as a task is freed twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef FIXED
#define INDEX 0xffffffffu
#else
#define INDEX 7u
#endif
#define SIZE 4u
#define TASKS 16

struct task {
    int runs;
};

static _Atomic(struct task *) buffer[SIZE];
static atomic_uint head;
static atomic_uint tail; /* Only the worker changes it. */
static atomic_int left = TASKS;

static void
run(struct task *task)
{
    if (task != NULL) {
        task->runs++;
        free(task);
        atomic_fetch_sub(&left, 1);
    }
}

static struct task *
steal(void)
{
    unsigned first = atomic_load(&head);
    if (first == atomic_load(&tail)) {
        return NULL;
    }
    struct task *task = atomic_load(&buffer[first % SIZE]);
    bool taken = atomic_compare_exchange_strong(&head, &first, (first + 1) & INDEX);
    return taken ? task : NULL;
}

static struct task *
pop(void)
{
    while (1) {
        unsigned first = atomic_load(&head);
        if (first == atomic_load(&tail)) {
            return NULL;
        }
        struct task *task = atomic_load(&buffer[first % SIZE]);
        if (atomic_compare_exchange_strong(&head, &first, (first + 1) & INDEX)) {
            return task;
        }
    }
}

static void
push(void)
{
    unsigned last = atomic_load(&tail);
    atomic_store(&buffer[last % SIZE], calloc(1, sizeof(struct task)));
    atomic_store(&tail, (last + 1) & INDEX);
}

static void *
stealer(void *unused)
{
    for (int i = 0; i < TASKS; i++) {
        run(steal());
    }
    return unused;
}

int
main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stealer, NULL);
    for (int i = 0; i < TASKS; i++) {
        push();
        run(pop());
    }
    return pthread_join(thread, NULL);
}
