// Cause: s5_uvcancel.c:51 after_hash() returns at once for a job that was cancelled and does not count it: if the deadline comes while a job still waits for a thread, the count of jobs never reaches zero, and the progress handle is never closed and keeps the loop alive.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#define JOBS 6

struct job {
    uv_work_t work;
    char block[256];
    uint32_t hash;
    int finished;
};

static struct job jobs[JOBS];
static uv_async_t progress; /* for a progress bar */
static uv_timer_t deadline;
static int left, hashed, cancelled;

static void hash(uv_work_t *work)
{
    struct job *job = work->data;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < sizeof job->block; i++)
        h = (h ^ (unsigned char)job->block[i]) * 16777619u;
    usleep(400); /* the blocks of a real file are larger */
    job->hash = h;
    uv_async_send(&progress);
}

static void on_progress(uv_async_t *async)
{
    (void)async;
}

static void after_hash(uv_work_t *work, int status)
{
    struct job *job = work->data;
    job->finished = 1;
#ifdef FIXED
    if (status == UV_ECANCELED)
        cancelled++;
    else
        hashed++;
#else
    if (status == UV_ECANCELED)
        return;
    hashed++;
#endif
    if (--left == 0) {
        uv_close((uv_handle_t *)&progress, NULL);
        uv_close((uv_handle_t *)&deadline, NULL);
    }
}

static void on_deadline(uv_timer_t *timer)
{
    (void)timer;
    for (int i = 0; i < JOBS; i++)
        if (!jobs[i].finished)
            uv_cancel((uv_req_t *)&jobs[i].work); /* EBUSY: it runs, let it finish */
}

int main(void)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    uv_async_init(&loop, &progress, on_progress);
    uv_timer_init(&loop, &deadline);
    for (int i = 0; i < JOBS; i++) {
        memset(jobs[i].block, 'a' + i, sizeof jobs[i].block);
        jobs[i].work.data = &jobs[i];
        left++;
        if (uv_queue_work(&loop, &jobs[i].work, hash, after_hash))
            return 1;
    }
    uv_timer_start(&deadline, on_deadline, 2, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    printf("%d of %d jobs\n", hashed + cancelled, JOBS);
    uv_loop_close(&loop);
    uv_library_shutdown();
    return 0;
}
