/*
 * glib-711090.c -- a loop that waits for two signals, which two threads send.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <unistd.h>

static int missing = 2;

static gboolean
arrived(gpointer loop)
{
    if (--missing == 0)
        g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

static gpointer
send(gpointer number)
{
    kill(getpid(), GPOINTER_TO_INT(number));
    return NULL;
}

int
main(void)
{
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGUSR1, arrived, loop);
    g_unix_signal_add(SIGUSR2, arrived, loop);
    GThread *one = g_thread_new("one", send, GINT_TO_POINTER(SIGUSR1));
    GThread *two = g_thread_new("two", send, GINT_TO_POINTER(SIGUSR2));
    g_main_loop_run(loop);
    g_thread_join(one);
    g_thread_join(two);
}
