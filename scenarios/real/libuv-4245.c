/*
 * libuv-4245.c -- a timer that starts itself for now, and another one that ends the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <uv.h>

static void
again(uv_timer_t *timer)
{
    uv_timer_start(timer, again, 0, 0);
}

static void
stop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

int
main(void)
{
    uv_timer_t timers[2];
    uv_loop_t *loop = uv_default_loop();
    uv_timer_init(loop, &timers[0]);
    uv_timer_init(loop, &timers[1]);
    uv_timer_start(&timers[0], again, 0, 0);
    uv_timer_start(&timers[1], stop, 1, 0);
    return uv_run(loop, UV_RUN_DEFAULT) == 0;
}
