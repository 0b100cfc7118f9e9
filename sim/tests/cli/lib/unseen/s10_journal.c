// SPDX-License-Identifier: Apache-2.0
/* Cause: on_flush(), line 38: the source ends, flush_source keeps its id, append() never adds another; repair: = 0. */
/* libs: -lglib-2.0 */
#include <glib.h>
#include <stdio.h>

#define WRITERS 2
#define ENTRIES 4

struct journal {
    GMainContext *context;
    GMainLoop *loop;
    GPtrArray *pending;
    guint flush_source;
    guint stored;
};

struct entry {
    struct journal *journal;
    gchar *text;
};

static void
store(struct journal *j)
{
    j->stored += j->pending->len;
    g_ptr_array_set_size(j->pending, 0);
    if (j->stored == WRITERS * ENTRIES)
        g_main_loop_quit(j->loop);
}

static gboolean
on_flush(gpointer data)
{
    struct journal *j = data;
#ifdef FIXED
    j->flush_source = 0;
#endif
    if (j->pending->len > 0)
        store(j);
    return G_SOURCE_REMOVE;
}

static gboolean
append(gpointer data)
{
    struct entry *entry = data;
    struct journal *j = entry->journal;
    g_ptr_array_add(j->pending, entry->text);
    g_free(entry);
    if (j->flush_source == 0) {
        GSource *timeout = g_timeout_source_new(20);
        g_source_set_callback(timeout, on_flush, j, NULL);
        j->flush_source = g_source_attach(timeout, j->context);
        g_source_unref(timeout);
    }
    return G_SOURCE_REMOVE;
}

static gpointer
writer(gpointer data)
{
    struct journal *j = data;
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = g_new(struct entry, 1);
        entry->journal = j;
        entry->text = g_strdup_printf("entry %d", i);
        g_main_context_invoke(j->context, append, entry);
        g_usleep(1000);
    }
    return NULL;
}

int
main(void)
{
    GThread *writers[WRITERS];
    struct journal journal = {.context = g_main_context_new()};
    journal.loop = g_main_loop_new(journal.context, FALSE);
    journal.pending = g_ptr_array_new_with_free_func(g_free);
    g_main_context_acquire(journal.context);
    for (int i = 0; i < WRITERS; i++)
        writers[i] = g_thread_new("writer", writer, &journal);
    g_main_loop_run(journal.loop);
    g_main_context_release(journal.context);
    for (int i = 0; i < WRITERS; i++)
        g_thread_join(writers[i]);
    printf("%u entries stored\n", journal.stored);
    g_ptr_array_free(journal.pending, TRUE);
    g_main_loop_unref(journal.loop);
    g_main_context_unref(journal.context);
    return 0;
}
