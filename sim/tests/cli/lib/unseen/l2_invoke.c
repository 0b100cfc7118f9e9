// Cause: l2_invoke.c:33 g_main_context_invoke runs the function at once when nobody owns the context yet, so the loop is quit before it runs
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <glib.h>
#include <string.h>

struct loader {
    GMainLoop *loop;
    char *text;
    int lines;
};

// Runs in the main loop.
static gboolean loader_finished(gpointer argument)
{
    struct loader *l = argument;
    g_main_loop_quit(l->loop);
    return G_SOURCE_REMOVE;
}

static gpointer load(gpointer argument)
{
    struct loader *l = argument;
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 20; i++)
        g_string_append_printf(text, "line %d\n", i);
    for (const char *at = text->str; (at = strchr(at, '\n')); at++)
        l->lines++;
    l->text = g_string_free(text, FALSE);
#ifdef FIXED
    g_idle_add(loader_finished, l);
#else
    g_main_context_invoke(NULL, loader_finished, l);
#endif
    return NULL;
}

int main(void)
{
    struct loader l = {.loop = g_main_loop_new(NULL, FALSE)};
    GThread *thread = g_thread_new("loader", load, &l);
    g_main_loop_run(l.loop);
    g_thread_join(thread);
    g_assert_cmpint(l.lines, ==, 20);
    g_free(l.text);
    g_main_loop_unref(l.loop);
    return 0;
}
