/*
 * s11_mailroom.c -- actors with a mailbox on a GLib main loop: a source for each mailbox becomes
 * ready when another thread posts to it. All that is in a mailbox is handled in one go.
 *
 * Cause: mailbox_dispatch() (line 72) takes the ready time back after it has looked into the mailbox, and with it that of a letter which came in between
 */
#include <glib.h>
#include <stdio.h>

#define CLERKS 2
#define LETTERS 3

typedef struct mailbox {
    GSource source; /* The first field. */
    GMutex mutex;
    GQueue letters;
    guint handled;
    guint expected;
    GMainLoop *loop;
} mailbox;

typedef struct clerk {
    mailbox *to[2];
    guint number;
    GThread *thread;
} clerk;

static guint open_boxes;

/* Any thread. */
static void
mailbox_post(mailbox *box, guint letter)
{
    g_mutex_lock(&box->mutex);
    g_queue_push_tail(&box->letters, GUINT_TO_POINTER(letter));
    g_mutex_unlock(&box->mutex);
    g_source_set_ready_time(&box->source, 0);
}

static void
mailbox_handle(mailbox *box, guint letter)
{
    g_usleep(100 + letter);
    if (++box->handled == box->expected && --open_boxes == 0) {
        g_main_loop_quit(box->loop);
    }
}

static void
mailbox_empty(mailbox *box)
{
    g_mutex_lock(&box->mutex);
    GQueue letters = box->letters;
    g_queue_init(&box->letters);
    g_mutex_unlock(&box->mutex);
    while (!g_queue_is_empty(&letters)) {
        mailbox_handle(box, GPOINTER_TO_UINT(g_queue_pop_head(&letters)));
    }
}

static gboolean
mailbox_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    mailbox *box = (mailbox *)source;
    (void)callback;
    (void)data;
#ifdef FIXED
    g_source_set_ready_time(source, -1);
    mailbox_empty(box);
#else
    mailbox_empty(box);
    g_source_set_ready_time(source, -1);
#endif
    return G_SOURCE_CONTINUE;
}

static void
mailbox_finalize(GSource *source)
{
    mailbox *box = (mailbox *)source;
    g_queue_clear(&box->letters);
    g_mutex_clear(&box->mutex);
}

static GSourceFuncs mailbox_funcs = {
        .dispatch = mailbox_dispatch, .finalize = mailbox_finalize};

static mailbox *
mailbox_new(GMainLoop *loop, guint expected)
{
    mailbox *box = (mailbox *)g_source_new(&mailbox_funcs, sizeof *box);
    g_mutex_init(&box->mutex);
    g_queue_init(&box->letters);
    box->loop = loop;
    box->expected = expected;
    open_boxes++;
    g_source_attach(&box->source, g_main_loop_get_context(loop));
    return box;
}

static gpointer
clerk_main(gpointer data)
{
    clerk *clerk = data;
    for (guint i = 0; i < LETTERS; i++) {
        mailbox_post(clerk->to[i % 2], 10 * clerk->number + i + 1);
        g_usleep(1000 + 1500 * clerk->number);
    }
    return NULL;
}

int
main(void)
{
    GMainContext *context = g_main_context_new();
    GMainLoop *loop = g_main_loop_new(context, FALSE);
    mailbox *orders = mailbox_new(loop, 3), *complaints = mailbox_new(loop, 3);
    clerk clerks[CLERKS] = {{{orders, complaints}, 0, NULL}, {{complaints, orders}, 1, NULL}};
    for (guint i = 0; i < CLERKS; i++) {
        clerks[i].thread = g_thread_new("clerk", clerk_main, &clerks[i]);
    }
    g_main_loop_run(loop);
    for (guint i = 0; i < CLERKS; i++) {
        g_thread_join(clerks[i].thread);
    }
    printf("%u orders, %u complaints\n", orders->handled, complaints->handled);
    mailbox *boxes[] = {orders, complaints};
    for (guint i = 0; i < 2; i++) {
        g_source_destroy(&boxes[i]->source);
        g_source_unref(&boxes[i]->source);
    }
    g_main_loop_unref(loop);
    g_main_context_unref(context);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
