// Cause: start_loading() queues the load of the dictionary on the same pool of two threads on which the conversions
// block (convert(), uv_cond_wait) until it is loaded. If both conversions run before the load is taken from the pool's
// queue, no thread is left for it. It must run on a thread of its own (or conversions must not be queued before it has
// ended).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* libs: -luv */
/* Documents are converted on libuv's thread pool. A conversion needs the dictionary, which is
 * loaded when the first one asks for it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define DOCUMENTS 2

static uv_loop_t *loop;
static uv_async_t need;
static uv_mutex_t lock;
static uv_cond_t changed;
static bool requested, loaded;
static int converted;

static uv_work_t load_work;
#ifdef FIXED
static uv_thread_t loader;
static bool loader_runs;
#endif

struct document {
    uv_timer_t arrival;
    uv_work_t work;
    int words;
};

static struct document documents[DOCUMENTS];

static void
load_dictionary(void)
{
    uv_sleep(3);
    uv_mutex_lock(&lock);
    loaded = true;
    uv_cond_broadcast(&changed);
    uv_mutex_unlock(&lock);
}

static void
load_on_pool(uv_work_t *work)
{
    (void)work;
    load_dictionary();
}

#ifdef FIXED
static void
load_on_thread(void *argument)
{
    (void)argument;
    load_dictionary();
}
#endif

static void
start_loading(void)
{
#ifdef FIXED
    (void)load_on_pool;
    (void)load_work;
    loader_runs = uv_thread_create(&loader, load_on_thread, NULL) == 0;
#else
    uv_queue_work(loop, &load_work, load_on_pool, NULL);
#endif
}

static void
on_need(uv_async_t *handle)
{
    (void)handle;
    if (!requested) {
        requested = true;
        start_loading();
    }
}

static void
convert(uv_work_t *work)
{
    struct document *document = work->data;
    uv_mutex_lock(&lock);
    if (!loaded) {
        uv_async_send(&need);
        while (!loaded) {
            uv_cond_wait(&changed, &lock);
        }
    }
    uv_mutex_unlock(&lock);
    document->words = 100;
}

static void
on_converted(uv_work_t *work, int status)
{
    (void)work;
    (void)status;
    if (++converted == DOCUMENTS) {
        uv_close((uv_handle_t *)&need, NULL);
    }
}

static void
on_arrival(uv_timer_t *timer)
{
    struct document *document = timer->data;
    uv_queue_work(loop, &document->work, convert, on_converted);
    uv_close((uv_handle_t *)timer, NULL);
}

int
main(void)
{
    setenv("UV_THREADPOOL_SIZE", "2", 1);
    loop = uv_default_loop();
    uv_mutex_init(&lock);
    uv_cond_init(&changed);
    uv_async_init(loop, &need, on_need);
    for (int i = 0; i < DOCUMENTS; i++) {
        documents[i].arrival.data = &documents[i];
        documents[i].work.data = &documents[i];
        uv_timer_init(loop, &documents[i].arrival);
        uv_timer_start(&documents[i].arrival, on_arrival, 1 + 8 * (uint64_t)i, 0);
    }
    uv_run(loop, UV_RUN_DEFAULT);
#ifdef FIXED
    if (loader_runs) {
        uv_thread_join(&loader);
    }
#endif
    printf("%d converted\n", converted);
    return 0;
}
