/*
 * libuv-492.c -- two jobs for the thread pool: the first one waits for what the second one does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <uv.h>

static uv_sem_t done;

static void
first(uv_work_t *work)
{
    uv_sem_wait(&done);
}

static void
second(uv_work_t *work)
{
    uv_sem_post(&done);
}

int
main(void)
{
    uv_work_t one;
    uv_work_t two;
    uv_loop_t *loop = uv_default_loop();
    uv_sem_init(&done, 0);
    uv_queue_work(loop, &one, first, NULL);
    uv_queue_work(loop, &two, second, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop);
}
