/*
 * libuv-joyent-628.c -- a loop with two jobs for the thread pool, closed and freed when both are
 * done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <uv.h>

static void
work(uv_work_t *job)
{
}

int
main(void)
{
    uv_work_t jobs[2];
    uv_loop_t *loop = malloc(sizeof(*loop));
    uv_loop_init(loop);
    uv_queue_work(loop, &jobs[0], work, NULL);
    uv_queue_work(loop, &jobs[1], work, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    if (uv_loop_close(loop) != 0)
        return 1;
    free(loop);
}
