/* Cause: on_last_part(), line 33: g_main_loop_quit is called on a worker's thread; if all parts are done before main() is in g_main_loop_run, the loop is not running yet, the quit has no effect, and the loop runs forever; repair: quit from an idle source of the loop's context, which is dispatched once the loop runs. */
/*
 * Computes the lines of a sundial in two GLib threads, while the main loop serves the user; the
 * main loop ends when all parts are there.
 */
#include <assert.h>
#include <glib.h>
#include <stdio.h>

#define PARTS 3

struct dial {
    GMainLoop *loop;
    GMutex mutex;
    int hours[PARTS * 4];
    gint next;   /* The part that nobody has begun. */
    int missing; /* Parts. */
};

static gboolean leave(gpointer argument)
{
    struct dial *dial = argument;
    g_main_loop_quit(dial->loop);
    return G_SOURCE_REMOVE;
}

/* On the thread that has made the last part. */
static void on_last_part(struct dial *dial)
{
#ifdef FIXED
    g_idle_add(leave, dial);
#else
    (void)leave(dial);
#endif
}

static void compute(struct dial *dial, int part)
{
    int hours[4];
    for (int i = 0; i < 4; i++)
        hours[i] = (part * 4 + i) * 15;
    g_mutex_lock(&dial->mutex);
    for (int i = 0; i < 4; i++)
        dial->hours[part * 4 + i] = hours[i];
    gboolean last = --dial->missing == 0;
    g_mutex_unlock(&dial->mutex);
    if (last)
        on_last_part(dial);
}

static gpointer worker(gpointer argument)
{
    struct dial *dial = argument;
    for (int part; (part = g_atomic_int_add(&dial->next, 1)) < PARTS;)
        compute(dial, part);
    return NULL;
}

/* The user wants to see that something goes on. */
static gboolean greet(gpointer argument)
{
    (void)argument;
    printf("computing\n");
    return G_SOURCE_REMOVE;
}

int main(void)
{
    static struct dial dial = {.missing = PARTS};
    GThread *threads[2];
    dial.loop = g_main_loop_new(NULL, FALSE);
    g_mutex_init(&dial.mutex);
    g_idle_add(greet, NULL);

    for (int i = 0; i < 2; i++)
        threads[i] = g_thread_new("worker", worker, &dial);
    g_main_loop_run(dial.loop);
    for (int i = 0; i < 2; i++)
        g_thread_join(threads[i]);

    for (int i = 0; i < PARTS * 4; i++)
        assert(dial.hours[i] == i * 15);
    g_main_loop_unref(dial.loop);
    g_mutex_clear(&dial.mutex);
    printf("%d lines\n", PARTS * 4);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
