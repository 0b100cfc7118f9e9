// SPDX-License-Identifier: Apache-2.0
/* Cause: take() line 46: the compare-and-swap sees that the same buffer is on top again, and not that the list
 * below it has changed in between (ABA); a buffer is given out twice. Repair: count changes in the upper
 * half of the word (FIXED, line 32). */
/* atomics */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define BUFFERS 3
#define THREADS 2
#define ROUNDS 3
#define NONE UINT64_C(0xffffffff)
#define INDEX UINT64_C(0xffffffff)
#define STEP (INDEX + 1)

struct buffer {
    _Atomic uint64_t next; /* The index of the one below it. */
    atomic_int owners;
    int fills;
};

static struct buffer buffers[BUFFERS];
static _Atomic uint64_t top = NONE;

/* The word that follows `head`, with `index` on top. */
static uint64_t
follow(uint64_t head, uint64_t index)
{
#ifdef FIXED
    return (head & ~INDEX) + STEP + index;
#else
    return (head & ~INDEX) + index;
#endif
}

static struct buffer *
take(void)
{
    uint64_t head = atomic_load(&top);
    for (;;) {
        if ((head & INDEX) == NONE)
            return NULL;
        struct buffer *buffer = &buffers[head & INDEX];
        uint64_t next = atomic_load(&buffer->next);
        if (atomic_compare_exchange_weak(&top, &head, follow(head, next)))
            return buffer;
    }
}

static void
give(struct buffer *buffer)
{
    uint64_t head = atomic_load(&top);
    do
        atomic_store(&buffer->next, head & INDEX);
    while (!atomic_compare_exchange_weak(&top, &head, follow(head, (uint64_t)(buffer - buffers))));
}

static struct buffer *
claim(void)
{
    struct buffer *buffer = take();
    if (buffer != NULL) {
        int before = atomic_fetch_add(&buffer->owners, 1);
        assert(before == 0);
        buffer->fills++;
    }
    return buffer;
}

static void
release(struct buffer *buffer)
{
    if (buffer != NULL) {
        atomic_fetch_sub(&buffer->owners, 1);
        give(buffer);
    }
}

static void *
copy_main(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct buffer *from = claim();
        struct buffer *to = claim();
        release(from);
        release(to);
    }
    return argument;
}

int
main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < BUFFERS; i++)
        give(&buffers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, copy_main, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int count = 0;
    while (take() != NULL)
        count++;
    assert(count == BUFFERS);
    printf("%d buffers\n", count);
    return 0;
}
