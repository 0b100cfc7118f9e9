/*
 * glib-e26a8a5.c -- a loop of the program's own polls for a context of GLib; a thread adds a
 * source to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <glib.h>

static gboolean stopped;

static gboolean
stop(gpointer unused)
{
    stopped = TRUE;
    return G_SOURCE_REMOVE;
}

static gpointer
add(gpointer context)
{
    GSource *source = g_idle_source_new();
    g_source_set_callback(source, stop, NULL, NULL);
    g_source_attach(source, context);
    return NULL;
}

int
main(void)
{
    GMainContext *context = g_main_context_new_with_flags(G_MAIN_CONTEXT_FLAGS_OWNERLESS_POLLING);
    GThread *thread = g_thread_new("adds", add, context);
    while (!stopped) {
        GPollFD fds[4];
        int priority, timeout;
        g_main_context_acquire(context);
        g_main_context_prepare(context, &priority);
        int count = g_main_context_query(context, priority, &timeout, fds, 4);
        g_main_context_release(context);
        g_poll(fds, count, timeout);
        g_main_context_acquire(context);
        if (g_main_context_check(context, priority, fds, count))
            g_main_context_dispatch(context);
        g_main_context_release(context);
    }
    g_thread_join(thread);
}
