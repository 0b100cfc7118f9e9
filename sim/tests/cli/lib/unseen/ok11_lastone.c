/*
 * ok11_lastone.c -- a libuv loop whose handles close each other: a watchdog that does not keep the
 * loop alive, a ticker that stops inside its own callback, and work whose wake-ups are merged.
 *
 * Cause: none, it is correct: the loop ends by itself when the last result is there, although the watchdog still runs
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define WORKERS 2
#define RESULTS 3

struct board {
    uv_loop_t loop;
    uv_async_t changed;
    uv_timer_t watchdog, ticker;
    uv_idle_t once;
    uv_mutex_t mutex;
    int results;
    int seen, ticks;
};

static void
on_watchdog(uv_timer_t *timer)
{
    uv_timer_again(timer);
}

static void
on_once(uv_idle_t *idle)
{
    uv_close((uv_handle_t *)idle, NULL);
}

static void
on_tick(uv_timer_t *timer)
{
    struct board *board = timer->data;
    if (++board->ticks == 3) {
        uv_timer_stop(timer);
        uv_idle_start(&board->once, on_once);
    }
}

static void
on_changed(uv_async_t *async)
{
    struct board *board = async->data;
    uv_mutex_lock(&board->mutex);
    board->seen = board->results;
    uv_mutex_unlock(&board->mutex);
    if (board->seen == WORKERS * RESULTS) {
        uv_close((uv_handle_t *)async, NULL);
        uv_close((uv_handle_t *)&board->ticker, NULL);
        if (!uv_is_closing((uv_handle_t *)&board->once)) {
            uv_close((uv_handle_t *)&board->once, NULL);
        }
    }
}

static void
worker_main(void *argument)
{
    struct board *board = argument;
    for (int i = 0; i < RESULTS; i++) {
        uv_sleep(1);
        uv_mutex_lock(&board->mutex);
        board->results++;
        uv_async_send(&board->changed);
        uv_mutex_unlock(&board->mutex);
    }
}

static void
close_rest(uv_handle_t *handle, void *argument)
{
    (void)argument;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

int
main(void)
{
    static struct board board;
    uv_thread_t workers[WORKERS];
    uv_loop_init(&board.loop);
    uv_mutex_init(&board.mutex);
    uv_async_init(&board.loop, &board.changed, on_changed);
    uv_timer_init(&board.loop, &board.watchdog);
    uv_timer_init(&board.loop, &board.ticker);
    uv_idle_init(&board.loop, &board.once);
    board.changed.data = board.ticker.data = &board;
    uv_timer_start(&board.watchdog, on_watchdog, 50, 50);
    uv_unref((uv_handle_t *)&board.watchdog);
    uv_timer_start(&board.ticker, on_tick, 1, 1);
    for (int i = 0; i < WORKERS; i++) {
        uv_thread_create(&workers[i], worker_main, &board);
    }
    uv_run(&board.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < WORKERS; i++) {
        uv_thread_join(&workers[i]);
    }
    uv_walk(&board.loop, close_rest, NULL);
    uv_run(&board.loop, UV_RUN_DEFAULT);
    int err = uv_loop_close(&board.loop);
    uv_mutex_destroy(&board.mutex);
    printf("%d results\n", board.seen);
    return err != 0 || board.seen != WORKERS * RESULTS;
}
// SPDX-License-Identifier: Apache-2.0
