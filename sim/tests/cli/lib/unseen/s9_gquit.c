// Cause: all_made() calls g_main_loop_quit() from a worker. If main() has not entered g_main_loop_run() yet, run sets
// is_running again and the quit is lost: the loop never ends. The quit must be done inside the loop, by a source
// (g_idle_add) that stays until the loop runs.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* libs: -lglib-2.0 */
/* Thumbnails are made by worker threads; the program ends its main loop after the last one. */
#include <glib.h>

#define WORKERS 2
#define PICTURES 3

static GMainLoop *loop;
static GAsyncQueue *pictures;
static gint left = PICTURES;

#ifdef FIXED
static gboolean
leave(gpointer argument)
{
    (void)argument;
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}
#endif

static void
all_made(void)
{
#ifdef FIXED
    g_idle_add(leave, NULL);
#else
    g_main_loop_quit(loop);
#endif
}

static gpointer
worker(gpointer argument)
{
    for (;;) {
        gint number = GPOINTER_TO_INT(g_async_queue_pop(pictures));
        if (number < 0) {
            return argument;
        }
        if (g_atomic_int_dec_and_test(&left)) {
            all_made();
        }
    }
}

int
main(void)
{
    GThread *threads[WORKERS];
    loop = g_main_loop_new(NULL, FALSE);
    pictures = g_async_queue_new();
    for (gint i = 0; i < WORKERS; i++) {
        threads[i] = g_thread_new("thumbnails", worker, NULL);
    }
    for (gint i = 0; i < PICTURES; i++) {
        g_async_queue_push(pictures, GINT_TO_POINTER(i + 1));
    }
    g_main_loop_run(loop);
    for (gint i = 0; i < WORKERS; i++) {
        g_async_queue_push(pictures, GINT_TO_POINTER(-1));
    }
    for (gint i = 0; i < WORKERS; i++) {
        g_thread_join(threads[i]);
    }
    g_main_loop_unref(loop);
    g_async_queue_unref(pictures);
    return 0;
}
