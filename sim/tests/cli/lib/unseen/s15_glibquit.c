/* Cause: download(), line 55: g_main_loop_quit of another thread is lost when the main thread has not come to
 * g_main_loop_run yet, which sets `running` again; repair: quit from a source that the loop dispatches. */
#include <assert.h>
#include <glib.h>
#include <stdio.h>

/* A viewer: a thread downloads, the main loop shows progress until all is there. */

#define BLOCKS 3

struct viewer {
    GMainLoop *loop;
    GMutex lock;
    GQueue blocks;
    guint shown;
};

static gboolean
show(gpointer data)
{
    struct viewer *viewer = data;
    g_mutex_lock(&viewer->lock);
    while (!g_queue_is_empty(&viewer->blocks)) {
        gint block = GPOINTER_TO_INT(g_queue_pop_head(&viewer->blocks));
        assert(block == (gint)viewer->shown + 1);
        viewer->shown++;
    }
    g_mutex_unlock(&viewer->lock);
    return G_SOURCE_REMOVE;
}

#ifdef FIXED
static gboolean
quit(gpointer data)
{
    struct viewer *viewer = data;
    g_main_loop_quit(viewer->loop);
    return G_SOURCE_REMOVE;
}
#endif

static gpointer
download(gpointer data)
{
    struct viewer *viewer = data;
    for (gint i = 1; i <= BLOCKS; i++) {
        g_mutex_lock(&viewer->lock);
        g_queue_push_tail(&viewer->blocks, GINT_TO_POINTER(i));
        g_mutex_unlock(&viewer->lock);
        g_idle_add(show, viewer);
    }
#ifdef FIXED
    g_idle_add(quit, viewer);
#else
    g_main_loop_quit(viewer->loop);
#endif
    return NULL;
}

int
main(void)
{
    struct viewer viewer = {.loop = g_main_loop_new(NULL, FALSE)};
    g_mutex_init(&viewer.lock);
    g_queue_init(&viewer.blocks);
    GThread *thread = g_thread_new("download", download, &viewer);
    g_main_loop_run(viewer.loop);
    g_thread_join(thread);
    while (g_main_context_iteration(NULL, FALSE)) {
    }
    assert(viewer.shown == BLOCKS);
    printf("%u blocks\n", viewer.shown);
    g_main_loop_unref(viewer.loop);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
