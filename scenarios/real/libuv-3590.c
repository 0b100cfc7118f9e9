/*
 * libuv-3590.c -- one turn of a loop, in which an idle handle stops itself; another handle waits
 * for a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <uv.h>

static void
stop(uv_idle_t *idle)
{
    uv_idle_stop(idle);
}

int
main(void)
{
    uv_async_t async;
    uv_idle_t idle;
    uv_loop_t *loop = uv_default_loop();
    uv_async_init(loop, &async, NULL);
    uv_idle_init(loop, &idle);
    uv_idle_start(&idle, stop);
    uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&async, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
}
