// Cause: s5_glibquit.c:44 the last scanner calls g_main_loop_quit() from its thread: if main() has not yet reached g_main_loop_run(), which sets the loop to running, the quit has no effect, and the loop runs forever with nothing to dispatch.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <glib.h>
#include <stdio.h>

#define SCANNERS 2

struct scan {
    GMainLoop *loop;
    GMutex lock;
    guint files;
    gint running;
};

struct scanner {
    struct scan *scan;
    guint number;
};

#ifdef FIXED
static gboolean on_finished(gpointer data)
{
    struct scan *scan = data;
    g_main_loop_quit(scan->loop);
    return G_SOURCE_REMOVE;
}
#endif

static gpointer scan_folder(gpointer data)
{
    struct scanner *self = data;
    struct scan *scan = self->scan;
    for (guint i = 0; i < 3; i++) {
        g_usleep(300 + 200 * self->number); /* reads a folder */
        g_mutex_lock(&scan->lock);
        scan->files += i + self->number;
        g_mutex_unlock(&scan->lock);
    }
    if (g_atomic_int_dec_and_test(&scan->running)) {
#ifdef FIXED
        g_idle_add(on_finished, scan);
#else
        g_main_loop_quit(scan->loop);
#endif
    }
    return NULL;
}

static void load_rules(GHashTable *rules)
{
    static const char *const lines[] = {"*.o=skip", "*.c=index", "*.h=index", ".git=skip"};
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        gchar **pair = g_strsplit(lines[i], "=", 2);
        g_hash_table_insert(rules, g_strdup(pair[0]), g_strdup(pair[1]));
        g_strfreev(pair);
        g_usleep(100);
    }
}

int main(void)
{
    struct scan scan = {.running = SCANNERS};
    struct scanner scanners[SCANNERS];
    GThread *threads[SCANNERS];
    GHashTable *rules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_mutex_init(&scan.lock);
    scan.loop = g_main_loop_new(NULL, FALSE);
    for (guint i = 0; i < SCANNERS; i++) {
        scanners[i] = (struct scanner){.scan = &scan, .number = i};
        threads[i] = g_thread_new("scanner", scan_folder, &scanners[i]);
    }
    load_rules(rules); /* meanwhile */
    g_main_loop_run(scan.loop);
    for (guint i = 0; i < SCANNERS; i++)
        g_thread_join(threads[i]);
    printf("%u files, %u rules\n", scan.files, g_hash_table_size(rules));
    g_hash_table_destroy(rules);
    g_main_loop_unref(scan.loop);
    g_mutex_clear(&scan.lock);
    return 0;
}
