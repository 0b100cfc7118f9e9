/* A GLib program: workers parse parts of a file, the last one ends the main loop of the importer.
 * Cause: part_done() line 53: g_main_loop_quit is called from a worker, and is without effect if the
 * main thread has not entered the loop yet; repair: quit from a callback that the loop itself runs. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTS 3

typedef struct {
    GMainContext *context;
    GMainLoop *loop;
    GMutex lock;
    GAsyncQueue *rows;
    guint parts_left;
    guint imported;
    guint total;
} Importer;

typedef struct {
    Importer *importer;
    guint part;
    guint rows;
} Part;

typedef struct {
    guint part;
    guint number;
    guint value;
} Row;

static gboolean on_finished(gpointer data)
{
    Importer *importer = data;

    g_main_loop_quit(importer->loop);
    return G_SOURCE_REMOVE;
}

static void part_done(Importer *importer)
{
    g_mutex_lock(&importer->lock);
    gboolean last = --importer->parts_left == 0;
    g_mutex_unlock(&importer->lock);
    if (!last)
        return;
#ifdef FIXED
    GSource *source = g_idle_source_new();
    g_source_set_callback(source, on_finished, importer, NULL);
    g_source_attach(source, importer->context);
    g_source_unref(source);
#else
    on_finished(importer);
#endif
}

static gpointer part_main(gpointer data)
{
    Part *part = data;

    for (guint i = 0; i < part->rows; i++) {
        Row *row = g_new0(Row, 1);
        row->part = part->part;
        row->number = i;
        row->value = part->part * 100 + i;
        g_async_queue_push(part->importer->rows, row);
    }
    part_done(part->importer);
    return NULL;
}

static void importer_store(Importer *importer)
{
    Row *row;

    while ((row = g_async_queue_try_pop(importer->rows)) != NULL) {
        importer->imported++;
        importer->total += row->value;
        g_free(row);
    }
}

static void importer_init(Importer *importer)
{
    importer->context = g_main_context_new();
    importer->loop = g_main_loop_new(importer->context, FALSE);
    g_mutex_init(&importer->lock);
    importer->rows = g_async_queue_new();
    importer->parts_left = PARTS;
    importer->imported = 0;
    importer->total = 0;
}

static void importer_clear(Importer *importer)
{
    g_async_queue_unref(importer->rows);
    g_mutex_clear(&importer->lock);
    g_main_loop_unref(importer->loop);
    g_main_context_unref(importer->context);
}

int main(void)
{
    Importer importer;
    Part parts[PARTS];
    GThread *threads[PARTS];
    guint rows = 0;

    importer_init(&importer);
    for (guint i = 0; i < PARTS; i++) {
        parts[i] = (Part){.importer = &importer, .part = i, .rows = 2 + i};
        rows += parts[i].rows;
        threads[i] = g_thread_new("part", part_main, &parts[i]);
    }
    g_main_loop_run(importer.loop);
    for (guint i = 0; i < PARTS; i++)
        g_thread_join(threads[i]);
    importer_store(&importer);
    if (importer.imported != rows) {
        fprintf(stderr, "%u of %u rows\n", importer.imported, rows);
        return 1;
    }
    printf("%u rows, sum %u\n", importer.imported, importer.total);
    importer_clear(&importer);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
