// Cause: main() calls uv_unref() on `done`, the async handle by which the compressor thread reports its result. The
// loop counts only the progress timer as alive: when that has ticked for the last time before the thread calls
// uv_async_send(), uv_run() returns, on_done() is never called, and the assertion that there is a result fails.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#define TICKS 3

static uv_async_t done;
static uv_timer_t progress;
static int ticks;
static int result;
static int delivered;

static void on_done(uv_async_t *handle)
{
    delivered = result;
    printf("result %d\n", delivered);
    uv_close((uv_handle_t *)handle, NULL);
}

static void on_progress(uv_timer_t *handle)
{
    if (++ticks == TICKS)
        uv_close((uv_handle_t *)handle, NULL);
}

static void *compress(void *argument)
{
    for (int i = 0; i < 4; i++) {
        usleep(1500);
        result += 10;
    }
    uv_async_send(&done);
    return argument;
}

int main(void)
{
    pthread_t thread;
    uv_loop_t *loop = uv_default_loop();
    uv_async_init(loop, &done, on_done);
#ifndef FIXED
    uv_unref((uv_handle_t *)&done); /* The timer keeps the loop alive. */
#endif
    uv_timer_init(loop, &progress);
    uv_timer_start(&progress, on_progress, 4, 4);
    pthread_create(&thread, NULL, compress, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    assert(delivered == 40);
    return 0;
}
