// Cause: on_idle(): it empties the queue with the mutex held, and forgets its source (`source = 0`) only after it has
// unlocked. An item that another thread pushes in between is neither taken nor does push() add a new idle source, as
// `source` is not 0 yet; if it is the last item, the main loop waits forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ITEMS 6

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GMainLoop *loop;
static GQueue queue = G_QUEUE_INIT;
static guint source;
static int handled;

static gboolean on_idle(gpointer data)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    while (g_queue_pop_head(&queue) != NULL)
        handled++;
#ifdef FIXED
    source = 0;
#endif
    pthread_mutex_unlock(&mutex);
#ifndef FIXED
    source = 0;
#endif
    if (handled == ITEMS)
        g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static void push(gpointer item)
{
    pthread_mutex_lock(&mutex);
    g_queue_push_tail(&queue, item);
    if (source == 0)
        source = g_idle_add(on_idle, NULL);
    pthread_mutex_unlock(&mutex);
}

static void *producer(void *argument)
{
    for (int i = 0; i < ITEMS / 2; i++) {
        push(GINT_TO_POINTER(i + 1));
        usleep(700);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    loop = g_main_loop_new(NULL, FALSE);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, producer, NULL);
    g_main_loop_run(loop);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d items\n", handled);
    g_main_loop_unref(loop);
    return 0;
}
