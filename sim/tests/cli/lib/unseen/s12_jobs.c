/*
 * Thumbnails on libuv's thread pool, at most two at a time, the rest in a queue; some are cancelled.
 * Cause: render_done() (line 57) returns for a cancelled job before it gives its place to the next one in the queue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define PLACES 2
#define JOBS 6

struct job {
    uv_work_t work;
    struct studio *studio;
    struct job *next;
    int number;
    enum { QUEUED, STARTED, DONE, CANCELLED } state;
};

struct studio {
    uv_loop_t *loop;
    uv_async_t open; /* Keeps the loop alive until all is done. */
    uv_timer_t impatience;
    struct job jobs[JOBS];
    struct job *first, *last;
    unsigned running, left;
};

static void studio_pump(struct studio *studio);

static void render(uv_work_t *work)
{
    struct job *job = work->data;
    usleep(1000 + 300 * (job->number % 3));
}

static void studio_finish(struct studio *studio)
{
    if (--studio->left > 0)
        return;
    uv_close((uv_handle_t *)&studio->open, NULL);
    uv_close((uv_handle_t *)&studio->impatience, NULL);
}

static void render_done(uv_work_t *work, int status)
{
    struct job *job = work->data;
    struct studio *studio = job->studio;
    if (status == UV_ECANCELED) {
        job->state = CANCELLED;
#ifdef FIXED
        studio->running--;
        studio_pump(studio);
#endif
        studio_finish(studio);
        return;
    }
    job->state = DONE;
    studio->running--;
    studio_pump(studio);
    studio_finish(studio);
}

static void studio_pump(struct studio *studio)
{
    while (studio->running < PLACES && studio->first != NULL) {
        struct job *job = studio->first;
        studio->first = job->next;
        job->state = STARTED;
        studio->running++;
        uv_queue_work(studio->loop, &job->work, render, render_done);
    }
}

static void studio_add(struct studio *studio, struct job *job)
{
    job->studio = studio;
    job->work.data = job;
    job->state = QUEUED;
    job->next = NULL;
    if (studio->first == NULL)
        studio->first = job;
    else
        studio->last->next = job;
    studio->last = job;
    studio->left++;
}

/* The user has scrolled on: what is not being rendered yet is not wanted any more. */
static void scrolled(uv_timer_t *timer)
{
    struct studio *studio = timer->data;
    for (int i = 0; i < 4; i++) {
        struct job *job = &studio->jobs[i];
        if (job->state == STARTED)
            uv_cancel((uv_req_t *)&job->work);
    }
}

static void opened(uv_async_t *async)
{
    (void)async;
}

int main(void)
{
    static struct studio studio;
    int done = 0;
    setenv("UV_THREADPOOL_SIZE", "2", 1);
    studio.loop = uv_default_loop();
    uv_async_init(studio.loop, &studio.open, opened);
    uv_timer_init(studio.loop, &studio.impatience);
    studio.impatience.data = &studio;
    for (int i = 0; i < JOBS; i++) {
        studio.jobs[i].number = i;
        studio_add(&studio, &studio.jobs[i]);
    }
    uv_timer_start(&studio.impatience, scrolled, 1, 0);
    studio_pump(&studio);
    uv_run(studio.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < JOBS; i++)
        done += studio.jobs[i].state == DONE;
    printf("%d rendered, %d cancelled\n", done, JOBS - done);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
