// Cause: l_uv.c:62 the callback takes at most BATCH results, but uv_async_send() coalesces: what is left over is never called for
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define WORKERS 2
#define EACH 3
#define BATCH 2

struct result {
    struct result *next;
    int value;
};

static uv_mutex_t lock;
static struct result *results;
static uv_async_t async;
static int delivered;
static long sum;

static void produce(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        struct result *r = malloc(sizeof *r);
        r->value = (int)(long)arg + i;
        uv_mutex_lock(&lock);
        r->next = results;
        results = r;
        uv_async_send(&async);
        uv_mutex_unlock(&lock);
    }
}

static struct result *pop(void)
{
    uv_mutex_lock(&lock);
    struct result *r = results;
    if (r)
        results = r->next;
    uv_mutex_unlock(&lock);
    return r;
}

static void deliver(uv_async_t *a)
{
    for (int i = 0; i < BATCH; i++) {
        struct result *r = pop();
        if (!r)
            return;
        sum += r->value;
        free(r);
        if (++delivered == WORKERS * EACH)
            uv_close((uv_handle_t *)a, NULL);
    }
#ifdef FIXED
    if (!uv_is_closing((uv_handle_t *)a))
        uv_async_send(a);
#endif
}

int main(void)
{
    uv_loop_t *loop = uv_default_loop();
    uv_thread_t t[WORKERS];
    uv_mutex_init(&lock);
    uv_async_init(loop, &async, deliver);
    for (long i = 0; i < WORKERS; i++)
        uv_thread_create(&t[i], produce, (void *)i);
    uv_run(loop, UV_RUN_DEFAULT);
    for (int i = 0; i < WORKERS; i++)
        uv_thread_join(&t[i]);
    printf("delivered %d, sum %ld\n", delivered, sum);
    uv_loop_close(loop);
    return 0;
}
