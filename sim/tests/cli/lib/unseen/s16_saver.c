/* Cause: on_save_time(), line 63: while a save is under way the source ends, but `save_source` keeps its id as if it were still to come; on_saved() finds the document changed, but schedule_save() then believes that a save is scheduled, and the last edits are never saved; repair: the id is forgotten before the early return. */
/*
 * s16_saver.c -- an editor saves a while after an edit, in a thread of its own: GLib's main loop.
 */
#include <assert.h>
#include <glib.h>

#define EDITS 5
#define DELAY_MS 4

struct document {
    GMainLoop *loop;
    GThread *saver;
    guint save_source; /* The time-out that will save; 0: none. */
    gboolean saving;
    unsigned version;
    unsigned saved;    /* The version on disk … */
    unsigned to_save;  /* … and the one that is being written. */
};

static gboolean on_save_time(gpointer data);

static void
schedule_save(struct document *document)
{
    if (document->save_source == 0) {
        document->save_source = g_timeout_add(DELAY_MS, on_save_time, document);
    }
}

/* The file has been written. */
static gboolean
on_saved(gpointer data)
{
    struct document *document = data;
    g_thread_join(document->saver);
    document->saving = FALSE;
    document->saved = document->to_save;
    if (document->saved < document->version) {
        schedule_save(document);
    } else if (document->version == EDITS) {
        g_main_loop_quit(document->loop);
    }
    return G_SOURCE_REMOVE;
}

static gpointer
save_main(gpointer data)
{
    g_usleep(5000); /* A slow disk. */
    g_idle_add(on_saved, data);
    return NULL;
}

static gboolean
on_save_time(gpointer data)
{
    struct document *document = data;
#ifdef FIXED
    document->save_source = 0;
#endif
    if (document->saving) {
        return G_SOURCE_REMOVE; /* on_saved() sees to it. */
    }
    document->save_source = 0;
    document->saving = TRUE;
    document->to_save = document->version;
    document->saver = g_thread_new("saver", save_main, document);
    return G_SOURCE_REMOVE;
}

static gboolean
on_edit(gpointer data)
{
    struct document *document = data;
    document->version++;
    if (!document->saving) {
        schedule_save(document);
    } else if (document->version > document->to_save + 1) {
        schedule_save(document); /* Much was written meanwhile. */
    }
    return G_SOURCE_REMOVE;
}

/* The one who writes. */
static gpointer
typist_main(gpointer data)
{
    for (int i = 0; i < EDITS; i++) {
        g_idle_add(on_edit, data);
        g_usleep(3000);
    }
    return NULL;
}

int
main(void)
{
    static struct document document;
    document.loop = g_main_loop_new(NULL, FALSE);
    GThread *typist = g_thread_new("typist", typist_main, &document);
    g_main_loop_run(document.loop);
    g_thread_join(typist);
    g_main_loop_unref(document.loop);
    assert(document.saved == EDITS);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
