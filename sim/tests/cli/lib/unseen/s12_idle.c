/*
 * Log lines of worker threads are gathered, and printed by an idle source of the main loop.
 * Cause: log_line() (line 53) stores the id of the source outside of the lock, and log_flush() may have run by then, so that a dead id stays.
 */
#include <glib.h>
#include <stdio.h>

struct log {
    GMutex lock;
    GQueue lines;
    guint flush_id; /* 0: no flush is scheduled. */
    guint printed;
    guint wanted;
    GMainLoop *loop;
};

static gboolean log_flush(gpointer data)
{
    struct log *log = data;
    GQueue lines;
    gchar *line;

    g_mutex_lock(&log->lock);
    lines = log->lines;
    g_queue_init(&log->lines);
    log->flush_id = 0;
    g_mutex_unlock(&log->lock);

    while ((line = g_queue_pop_head(&lines)) != NULL) {
        puts(line);
        g_free(line);
        log->printed++;
    }
    if (log->printed == log->wanted)
        g_main_loop_quit(log->loop);
    return G_SOURCE_REMOVE;
}

static void log_line(struct log *log, gchar *line)
{
    gboolean schedule;

    g_mutex_lock(&log->lock);
    g_queue_push_tail(&log->lines, line);
    schedule = log->flush_id == 0 && log->lines.length == 1;
#ifdef FIXED
    if (schedule)
        log->flush_id = g_idle_add(log_flush, log);
    g_mutex_unlock(&log->lock);
#else
    g_mutex_unlock(&log->lock);
    if (schedule)
        log->flush_id = g_idle_add(log_flush, log);
#endif
}

static struct log shared;

static gpointer worker(gpointer data)
{
    guint number = GPOINTER_TO_UINT(data);

    for (guint i = 0; i < 3; i++) {
        log_line(&shared, g_strdup_printf("worker %u: part %u", number, i));
        g_usleep(100);
    }
    return NULL;
}

int main(void)
{
    GThread *threads[2];

    g_mutex_init(&shared.lock);
    g_queue_init(&shared.lines);
    shared.loop = g_main_loop_new(NULL, FALSE);
    shared.wanted = 6;
    for (guint i = 0; i < 2; i++)
        threads[i] = g_thread_new("worker", worker, GUINT_TO_POINTER(i + 1));
    g_main_loop_run(shared.loop);
    for (guint i = 0; i < 2; i++)
        g_thread_join(threads[i]);
    g_main_loop_unref(shared.loop);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
