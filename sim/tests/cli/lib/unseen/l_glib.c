// Cause: l_glib.c:56 push() wakes the main context before it puts the item into the queue: the loop looks, finds nothing and sleeps
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <glib.h>
#include <stdio.h>

#define ITEMS 3

struct inbox {
    GSource source;
    GMutex lock;
    GQueue queue;
};

static GMainLoop *loop;
static int received;

static gboolean inbox_ready(struct inbox *in)
{
    g_mutex_lock(&in->lock);
    gboolean ready = !g_queue_is_empty(&in->queue);
    g_mutex_unlock(&in->lock);
    return ready;
}

static gboolean prepare(GSource *s, gint *timeout)
{
    *timeout = -1;
    return inbox_ready((struct inbox *)s);
}

static gboolean check(GSource *s)
{
    return inbox_ready((struct inbox *)s);
}

static gboolean dispatch(GSource *s, GSourceFunc f, gpointer data)
{
    struct inbox *in = (struct inbox *)s;
    (void)f;
    (void)data;
    g_mutex_lock(&in->lock);
    gpointer item = g_queue_pop_head(&in->queue);
    g_mutex_unlock(&in->lock);
    if (item && ++received == ITEMS)
        g_main_loop_quit(loop);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs funcs = {prepare, check, dispatch, NULL, NULL, NULL};

static void push(struct inbox *in, gpointer item)
{
    GMainContext *context = g_main_loop_get_context(loop);
#ifndef FIXED
    g_main_context_wakeup(context);
#endif
    g_mutex_lock(&in->lock);
    g_queue_push_tail(&in->queue, item);
    g_mutex_unlock(&in->lock);
#ifdef FIXED
    g_main_context_wakeup(context);
#endif
}

static gpointer feeder(gpointer arg)
{
    for (int i = 1; i <= ITEMS; i++)
        push(arg, GINT_TO_POINTER(i));
    return NULL;
}

int main(void)
{
    GMainContext *context = g_main_context_new();
    loop = g_main_loop_new(context, FALSE);
    struct inbox *in = (struct inbox *)g_source_new(&funcs, sizeof *in);
    g_mutex_init(&in->lock);
    g_queue_init(&in->queue);
    g_source_attach((GSource *)in, context);
    GThread *t = g_thread_new("feeder", feeder, in);
    g_main_loop_run(loop);
    g_thread_join(t);
    printf("received %d\n", received);
    g_source_destroy((GSource *)in);
    g_mutex_clear(&in->lock);
    g_source_unref((GSource *)in);
    g_main_loop_unref(loop);
    g_main_context_unref(context);
    return 0;
}
