// SPDX-License-Identifier: Apache-2.0
/* libs: -lglib-2.0 */
/* Cause: feed_push() line 73: an item is queued and the context is not woken; its main loop, in poll()
 * already, does not ask the source again. Repair: g_main_context_wakeup() after the push (FIXED). */
#include <glib.h>
#include <stdio.h>

#define ITEMS 4

/* A source that is ready while its queue is not empty. */
struct feed {
    GSource source;
    GMutex mutex;
    GQueue items;
};

static GMainLoop *loop;
static int received;

static gboolean
feed_ready(struct feed *feed)
{
    g_mutex_lock(&feed->mutex);
    gboolean ready = !g_queue_is_empty(&feed->items);
    g_mutex_unlock(&feed->mutex);
    return ready;
}

static gboolean
feed_prepare(GSource *source, gint *timeout)
{
    *timeout = -1;
    return feed_ready((struct feed *)source);
}

static gboolean
feed_check(GSource *source)
{
    return feed_ready((struct feed *)source);
}

static gboolean
feed_dispatch(GSource *source, GSourceFunc callback, gpointer argument)
{
    struct feed *feed = (struct feed *)source;
    (void)callback;
    (void)argument;
    g_mutex_lock(&feed->mutex);
    gpointer item = g_queue_pop_head(&feed->items);
    g_mutex_unlock(&feed->mutex);
    if (item != NULL && ++received == ITEMS)
        g_main_loop_quit(loop);
    return G_SOURCE_CONTINUE;
}

static void
feed_finalize(GSource *source)
{
    struct feed *feed = (struct feed *)source;
    g_queue_clear(&feed->items);
    g_mutex_clear(&feed->mutex);
}

static GSourceFuncs feed_functions = {.prepare = feed_prepare,
        .check = feed_check,
        .dispatch = feed_dispatch,
        .finalize = feed_finalize};

static void
feed_push(struct feed *feed, gpointer item)
{
    g_mutex_lock(&feed->mutex);
    g_queue_push_tail(&feed->items, item);
    g_mutex_unlock(&feed->mutex); /* The source is ready now. */
#ifdef FIXED
    g_main_context_wakeup(g_source_get_context(&feed->source));
#endif
}

static gpointer
reader_main(gpointer argument)
{
    for (int i = 1; i <= ITEMS; i++)
        feed_push(argument, GINT_TO_POINTER(i));
    return NULL;
}

int
main(void)
{
    GMainContext *context = g_main_context_new();
    struct feed *feed = (struct feed *)g_source_new(&feed_functions, sizeof(struct feed));
    g_mutex_init(&feed->mutex);
    g_queue_init(&feed->items);
    loop = g_main_loop_new(context, FALSE);
    g_source_attach(&feed->source, context);
    GThread *reader = g_thread_new("reader", reader_main, feed);
    g_main_loop_run(loop);
    g_thread_join(reader);
    g_source_destroy(&feed->source);
    g_source_unref(&feed->source);
    g_main_loop_unref(loop);
    g_main_context_unref(context);
    printf("%d items\n", received);
    return received == ITEMS ? 0 : 1;
}
