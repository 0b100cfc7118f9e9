// Cause: s6_uvasync.c:65 the callback takes one result for each call, but several uv_async_send before it make one call: the results after the first stay in the list when no further send follows.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define THREADS 3
#define JOBS 4 /* Of each thread. */

struct result {
    struct result *next;
    int value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct result *first, **last = &first;
static uv_async_t async;
static int received, sum;

static void deliver(int value)
{
    struct result *result = malloc(sizeof *result);
    if (result == NULL)
        abort();
    result->next = NULL;
    result->value = value;
    pthread_mutex_lock(&mutex);
    *last = result;
    last = &result->next;
    uv_async_send(&async); /* With the mutex: so it is over before the result can be taken. */
    pthread_mutex_unlock(&mutex);
}

static struct result *take(void)
{
    pthread_mutex_lock(&mutex);
    struct result *result = first;
    if (result != NULL) {
        first = result->next;
        if (first == NULL)
            last = &first;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static void handle(struct result *result)
{
    sum += result->value;
    free(result);
    if (++received == THREADS * JOBS)
        uv_close((uv_handle_t *)&async, NULL);
}

static void on_results(uv_async_t *handle_of)
{
    (void)handle_of;
#ifdef FIXED
    for (struct result *result = take(); result != NULL; result = take())
        handle(result);
#else
    struct result *result = take();
    if (result != NULL)
        handle(result);
#endif
}

static void *compute(void *argument)
{
    int base = *(int *)argument;
    for (int i = 0; i < JOBS; i++) {
        deliver(base + i);
        usleep(100);
    }
    return NULL;
}

int main(void)
{
    static int bases[THREADS] = {100, 200, 300};
    pthread_t threads[THREADS];
    uv_loop_t *loop = uv_default_loop();
    uv_async_init(loop, &async, on_results);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, &bases[i]);
    uv_run(loop, UV_RUN_DEFAULT);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uv_loop_close(loop);
    printf("sum %d\n", sum);
    return 0;
}
