// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* libs: -luv */
/* atomics */
/* Results of two threads reach a libuv loop by one async handle, which is rung only where it was not
 * rung already: the callback lowers the mark first, then takes everything. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <uv.h>

#define THREADS 2
#define EACH 3

static uv_async_t ready;
static uv_mutex_t lock;
static int results;
static int taken;
static atomic_bool rung;

static void
produce(void *argument)
{
    for (int i = 0; i < EACH; i++) {
        uv_mutex_lock(&lock);
        results++;
        if (!atomic_exchange(&rung, true)) {
            uv_async_send(&ready);
        }
        uv_mutex_unlock(&lock);
    }
    (void)argument;
}

static void
on_ready(uv_async_t *handle)
{
    atomic_store(&rung, false);
    uv_mutex_lock(&lock);
    int count = results;
    results = 0;
    uv_mutex_unlock(&lock);
    taken += count;
    if (taken == THREADS * EACH && !uv_is_closing((uv_handle_t *)handle)) {
        uv_close((uv_handle_t *)handle, NULL);
    }
}

int
main(void)
{
    uv_thread_t threads[THREADS];
    uv_mutex_init(&lock);
    uv_async_init(uv_default_loop(), &ready, on_ready);
    for (int i = 0; i < THREADS; i++) {
        uv_thread_create(&threads[i], produce, NULL);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    for (int i = 0; i < THREADS; i++) {
        uv_thread_join(&threads[i]);
    }
    printf("%d results\n", taken);
    return taken == THREADS * EACH ? 0 : 1;
}
