/* Cause: on_done(), line 63: a query whose work could not be cancelled was answered by on_timeout already, and is
 * answered here once more; repair: return where `answered` is set. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/* Queries on libuv's thread pool, each with a timer: a client gets one answer, a row or "too slow". */

#define QUERIES 2

struct query {
    uv_work_t work;
    uv_timer_t timer;
    unsigned cost_ms;
    int answers;
    int answered;
    int row;
};

static struct query queries[QUERIES];
static int open_queries = QUERIES;

static void
answer(struct query *query, const char *text)
{
    query->answers++;
    assert(query->answers == 1);
    printf("%u ms: %s\n", query->cost_ms, text);
    if (--open_queries == 0) {
        printf("all answered\n");
    }
}

/* On a thread of the pool. */
static void
search(uv_work_t *work)
{
    struct query *query = work->data;
    uv_sleep(query->cost_ms);
    query->row = (int)query->cost_ms * 2;
}

static void
on_timeout(uv_timer_t *timer)
{
    struct query *query = timer->data;
    answer(query, "too slow");
    query->answered = 1;
    uv_cancel((uv_req_t *)&query->work); /* Fails where it runs already. */
    uv_close((uv_handle_t *)timer, NULL);
}

static void
on_done(uv_work_t *work, int status)
{
    struct query *query = work->data;
#ifdef FIXED
    if (query->answered) {
        return;
    }
#endif
    if (status != UV_ECANCELED) {
        answer(query, "a row");
        query->answered = 1;
    }
    if (!uv_is_closing((uv_handle_t *)&query->timer)) {
        uv_close((uv_handle_t *)&query->timer, NULL);
    }
}

int
main(void)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    for (int i = 0; i < QUERIES; i++) {
        struct query *query = &queries[i];
        query->cost_ms = 10 + 10 * (unsigned)i;
        query->work.data = query;
        query->timer.data = query;
        uv_timer_init(&loop, &query->timer);
        uv_timer_start(&query->timer, on_timeout, 32, 0);
        uv_queue_work(&loop, &query->work, search, on_done);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    assert(open_queries == 0);
    assert(uv_loop_close(&loop) == 0);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
