// Cause: s6_gqueue.c:51 `scheduled` is taken back in a critical section of its own, after the one that found the queue empty: a message that is sent between the two finds it still set, adds no source, and no source is left to handle it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define SENDERS 2
#define MESSAGES 6 /* Of each. */

/* Messages for the main loop, from any thread. */
struct mailbox {
    pthread_mutex_t mutex;
    GQueue queue;
    gboolean scheduled; /* A source that handles the messages is in the loop. */
    GMainLoop *loop;
    int handled;
};

static struct mailbox mailbox = {.mutex = PTHREAD_MUTEX_INITIALIZER, .queue = G_QUEUE_INIT};

static void mailbox_handle(struct mailbox *box, gpointer message)
{
    (void)message;
    box->handled++;
    if (box->handled == SENDERS * MESSAGES)
        g_main_loop_quit(box->loop);
}

/* The oldest message; NULL: there is none. */
static gpointer mailbox_take(struct mailbox *box)
{
    pthread_mutex_lock(&box->mutex);
    gpointer message = g_queue_pop_head(&box->queue);
#ifdef FIXED
    if (message == NULL)
        box->scheduled = FALSE;
#endif
    pthread_mutex_unlock(&box->mutex);
    return message;
}

static gboolean on_messages(gpointer data)
{
    struct mailbox *box = data;
    for (gpointer message = mailbox_take(box); message != NULL; message = mailbox_take(box))
        mailbox_handle(box, message);
#ifndef FIXED
    pthread_mutex_lock(&box->mutex);
    box->scheduled = FALSE;
    pthread_mutex_unlock(&box->mutex);
#endif
    return G_SOURCE_REMOVE;
}

static void mailbox_send(struct mailbox *box, int message)
{
    pthread_mutex_lock(&box->mutex);
    g_queue_push_tail(&box->queue, GINT_TO_POINTER(message));
    if (!box->scheduled) {
        box->scheduled = TRUE;
        g_idle_add_full(G_PRIORITY_DEFAULT, on_messages, box, NULL);
    }
    pthread_mutex_unlock(&box->mutex);
}

static void *sender(void *argument)
{
    for (int i = 1; i <= MESSAGES; i++) {
        mailbox_send(&mailbox, i);
        usleep(50);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[SENDERS];
    mailbox.loop = g_main_loop_new(NULL, FALSE);
    for (int i = 0; i < SENDERS; i++)
        pthread_create(&threads[i], NULL, sender, NULL);
    g_main_loop_run(mailbox.loop);
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    g_main_loop_unref(mailbox.loop);
    printf("%d handled\n", mailbox.handled);
    return 0;
}
