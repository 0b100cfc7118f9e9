/*
 * libuv-2226.c -- two threads wake a loop by a handle each; the loop closes and frees what it was
 * woken by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <uv.h>

static void
closed(uv_handle_t *handle)
{
    free(handle);
}

static void
woken(uv_async_t *handle)
{
    uv_close((uv_handle_t *)handle, closed);
}

static void
wake(void *handle)
{
    uv_async_send(handle);
}

int
main(void)
{
    uv_thread_t threads[2];
    uv_loop_t *loop = malloc(sizeof(*loop));
    uv_loop_init(loop);
    for (int i = 0; i < 2; i++) {
        uv_async_t *handle = malloc(sizeof(*handle));
        uv_async_init(loop, handle, woken);
        uv_thread_create(&threads[i], wake, handle);
    }
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    free(loop);
    uv_thread_join(&threads[0]);
    uv_thread_join(&threads[1]);
}
