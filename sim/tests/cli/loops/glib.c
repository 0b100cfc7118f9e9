/*
 * glib.c -- a program over GLib: a timer, an idle source from another thread, and a queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <glib.h>
#include <stdio.h>

static GMainLoop *loop;
static GAsyncQueue *queue;
static int ticks, calls;

static gboolean
finish(void)
{
    if (ticks == 1 && calls == 1) {
        g_main_loop_quit(loop);
    }
    return G_SOURCE_REMOVE;
}

static gboolean
on_timer(gpointer data)
{
    (void)data;
    ticks++;
    return finish();
}

static gboolean
on_call(gpointer data)
{
    (void)data;
    calls++;
    return finish();
}

static gpointer
run(gpointer data)
{
    (void)data;
    g_idle_add(on_call, NULL);
    g_async_queue_push(queue, GINT_TO_POINTER(7));
    return NULL;
}

int
main(void)
{
    loop = g_main_loop_new(NULL, FALSE);
    queue = g_async_queue_new();
    g_timeout_add(20, on_timer, NULL);
    GThread *thread = g_thread_new("caller", run, NULL);
    g_main_loop_run(loop);
    int got = GPOINTER_TO_INT(g_async_queue_pop(queue));
    g_thread_join(thread);
    printf("ticks %d, calls %d, got %d\n", ticks, calls, got);
    g_async_queue_unref(queue);
    g_main_loop_unref(loop);
    return 0;
}
