/* A download manager over libuv: chunks are fetched by the thread pool, and a failed one again after a while.
 * Cause: retry_later() (line 68): all chunks share one timer, so a second failure within the delay replaces the chunk
 * that waits for it. Repair: keep the chunks that wait in a list, and start all of them when the timer fires. */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define CHUNKS 3
#define RETRY_MS 3
#define ATTEMPTS_MAX 3

struct chunk {
    uv_work_t work;
    struct chunk *next;
    struct manager *manager;
    int number;
    int attempts;
    int status;
    bool done;
};

struct manager {
    uv_loop_t *loop;
    uv_timer_t retry;
    struct chunk *waiting;
    struct chunk chunks[CHUNKS];
    int remaining;
};

static void fetch(uv_work_t *work)
{
    struct chunk *c = work->data;
    /* The first attempt at chunks 0 and 2 meets a server that is restarting. */
    usleep(1000 + 5000 * (unsigned)c->number);
    c->attempts++;
    c->status = c->number % 2 == 0 && c->attempts == 1 ? -1 : 0;
}

static void fetched(uv_work_t *work, int status);

static void start(struct chunk *c)
{
    int err = uv_queue_work(c->manager->loop, &c->work, fetch, fetched);
    assert(err == 0);
}

static void retry_due(uv_timer_t *timer)
{
    struct manager *m = timer->data;
    struct chunk *c = m->waiting;
    m->waiting = NULL;
    while (c != NULL) {
        struct chunk *next = c->next;
        start(c);
        c = next;
    }
}

static void retry_later(struct chunk *c)
{
    struct manager *m = c->manager;
#ifdef FIXED
    c->next = m->waiting;
#else
    c->next = NULL;
#endif
    m->waiting = c;
    uv_timer_start(&m->retry, retry_due, RETRY_MS, 0);
}

static void finished(struct manager *m)
{
    uv_close((uv_handle_t *)&m->retry, NULL);
}

static void fetched(uv_work_t *work, int status)
{
    struct chunk *c = work->data;
    struct manager *m = c->manager;
    assert(status == 0);
    if (c->status != 0) {
        if (c->attempts == ATTEMPTS_MAX) {
            fprintf(stderr, "chunk %d: gave up\n", c->number);
            exit(1);
        }
        retry_later(c);
        return;
    }
    c->done = true;
    if (--m->remaining == 0)
        finished(m);
}

int main(void)
{
    struct manager m = {.loop = uv_default_loop(), .remaining = CHUNKS};
    uv_timer_init(m.loop, &m.retry);
    m.retry.data = &m;
    for (int i = 0; i < CHUNKS; i++) {
        struct chunk *c = &m.chunks[i];
        c->manager = &m;
        c->number = i;
        c->work.data = c;
        start(c);
    }
    uv_run(m.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < CHUNKS; i++)
        assert(m.chunks[i].done);
    assert(uv_loop_close(m.loop) == 0);
    printf("%d chunks\n", CHUNKS);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
