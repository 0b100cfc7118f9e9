/* Cause: on_timeout(), line 33: a feeding that has timed out is counted as over, and its late result counts it down again, so the loop ends while another is still out; repair: count it only once, by its state. */
#include <assert.h>
#include <glib.h>
#include <stdio.h>

#define TANKS 2

struct feeding {
    GMainLoop *loop;
    int *outstanding;
    int number;
    guint timeout;
    gboolean over;
    gboolean settled;
    int grams;
};

static void
finish_one(struct feeding *feeding)
{
    if (--*feeding->outstanding == 0) {
        g_main_loop_quit(feeding->loop);
    }
}

static gboolean
on_timeout(gpointer data)
{
    struct feeding *feeding = data;
    feeding->timeout = 0;
    feeding->over = TRUE;
#ifndef FIXED
    finish_one(feeding);
#else
    if (!feeding->settled) {
        feeding->settled = TRUE;
        finish_one(feeding);
    }
#endif
    return G_SOURCE_REMOVE;
}

static gboolean
on_fed(gpointer data)
{
    struct feeding *feeding = data;
    feeding->grams = 5;
    if (feeding->timeout != 0) {
        g_source_remove(feeding->timeout);
        feeding->timeout = 0;
    }
    feeding->over = TRUE;
#ifdef FIXED
    if (feeding->settled) {
        return G_SOURCE_REMOVE;
    }
    feeding->settled = TRUE;
#endif
    finish_one(feeding);
    return G_SOURCE_REMOVE;
}

static gpointer
feeder(gpointer data)
{
    struct feeding *feeding = data;
    g_usleep(feeding->number == 0 ? 3000 : 9000);
    g_idle_add(on_fed, feeding);
    return NULL;
}

int
main(void)
{
    struct feeding feedings[TANKS];
    GThread *threads[TANKS];
    int outstanding = TANKS;
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    for (int i = 0; i < TANKS; i++) {
        feedings[i] = (struct feeding){.loop = loop, .outstanding = &outstanding, .number = i};
        feedings[i].timeout = g_timeout_add(i == 0 ? 5 : 40, on_timeout, &feedings[i]);
    }
    for (int i = 0; i < TANKS; i++) {
        threads[i] = g_thread_new("feeder", feeder, &feedings[i]);
    }
    g_main_loop_run(loop);
    for (int i = 0; i < TANKS; i++) {
        assert(feedings[i].over);
    }
    for (int i = 0; i < TANKS; i++) {
        g_thread_join(threads[i]);
    }
    g_main_loop_unref(loop);
    puts("all tanks served");
    return 0;
}
