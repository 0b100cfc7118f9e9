// Cause: take(), the compare-and-swap of `head`: it compares the number of the first free buffer only (ABA). If another
// thread takes the first and the second buffer and gives the first one back between the read of `next` and the swap, the
// swap succeeds and makes the second buffer, which is in use, the head; it is handed out twice, and the assert fails.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define BUFFERS 4u
#define NONE UINT32_MAX

struct buffer {
    _Atomic uint32_t next;
    atomic_int used;
};

static struct buffer buffers[BUFFERS];
static _Atomic uint64_t head; /* The low half: the first free buffer. The high half: a tag. */
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int attempts;
static int exhausted;

static uint64_t with_tag(uint64_t old, uint32_t first)
{
#ifdef FIXED
    return ((old >> 32) + 1) << 32 | first;
#else
    (void)old;
    return first;
#endif
}

static void count_attempt(int last)
{
    pthread_mutex_lock(&statistics);
    attempts++;
    exhausted += last;
    pthread_mutex_unlock(&statistics);
}

static uint32_t take(void)
{
    for (;;) {
        uint64_t old = atomic_load(&head);
        uint32_t first = (uint32_t)old;
        if (first == NONE)
            return NONE;
        uint32_t next = atomic_load(&buffers[first].next);
        count_attempt(next == NONE);
        if (atomic_compare_exchange_strong(&head, &old, with_tag(old, next))) {
            assert(atomic_exchange(&buffers[first].used, 1) == 0);
            return first;
        }
    }
}

static void give(uint32_t buffer)
{
    if (buffer == NONE)
        return;
    atomic_store(&buffers[buffer].used, 0);
    uint64_t old = atomic_load(&head);
    do {
        atomic_store(&buffers[buffer].next, (uint32_t)old);
    } while (!atomic_compare_exchange_strong(&head, &old, with_tag(old, buffer)));
}

static void *copy(void *argument)
{
    for (int i = 0; i < 3; i++) {
        uint32_t from = take();
        uint32_t to = take();
        give(from); /* It is empty first. */
        count_attempt(0);
        give(to);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (uint32_t i = 0; i < BUFFERS; i++)
        buffers[i].next = i + 1 < BUFFERS ? i + 1 : NONE;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, copy, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d attempts, %d at the last buffer\n", attempts, exhausted);
    return 0;
}
