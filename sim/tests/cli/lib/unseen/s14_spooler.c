/* A printing spooler over GLib: clients submit jobs to two printers, an operator takes one printer offline and back.
 * Cause: operator_thread() (line 107): the jobs of the printer that goes offline are moved to the other one by a look at
 * its queue before it is marked as offline, so a job submitted between the two stays. Repair: mark it, then move. */
#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define PRINTERS 2
#define CLIENTS 2
#define JOBS 3

typedef struct {
    GMutex lock;
    GCond work;
    GQueue jobs;
    gboolean offline;
    gboolean stopping;
    int printed;
} Printer;

static Printer printers[PRINTERS];
static GMutex done_lock;
static GCond done;
static int finished;

static gboolean printer_offer(Printer *p, int job)
{
    g_mutex_lock(&p->lock);
    gboolean takes = !p->offline;
    if (takes) {
        g_queue_push_tail(&p->jobs, GINT_TO_POINTER(job));
        g_cond_signal(&p->work);
    }
    g_mutex_unlock(&p->lock);
    return takes;
}

static void printer_set_offline(Printer *p, gboolean offline)
{
    g_mutex_lock(&p->lock);
    p->offline = offline;
    g_cond_signal(&p->work);
    g_mutex_unlock(&p->lock);
}

static int printer_take_back(Printer *p)
{
    g_mutex_lock(&p->lock);
    int job = g_queue_is_empty(&p->jobs) ? 0 : GPOINTER_TO_INT(g_queue_pop_head(&p->jobs));
    g_mutex_unlock(&p->lock);
    return job;
}

static void submit(int job)
{
    for (int i = job % PRINTERS; !printer_offer(&printers[i], job);)
        i = (i + 1) % PRINTERS;
}

static gpointer printer_thread(gpointer data)
{
    Printer *p = data;
    g_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stopping && (p->offline || g_queue_is_empty(&p->jobs)))
            g_cond_wait(&p->work, &p->lock);
        if (p->stopping)
            break;
        (void)g_queue_pop_head(&p->jobs);
        p->printed++;
        g_mutex_unlock(&p->lock);
        usleep(300);
        g_mutex_lock(&done_lock);
        finished++;
        g_cond_signal(&done);
        g_mutex_unlock(&done_lock);
        g_mutex_lock(&p->lock);
    }
    g_mutex_unlock(&p->lock);
    return NULL;
}

static gpointer client_thread(gpointer data)
{
    int first = GPOINTER_TO_INT(data);
    for (int i = 0; i < JOBS; i++) {
        submit(first + i);
        usleep(250);
    }
    return NULL;
}

/* Out of paper: the printer stays offline. */
static gpointer operator_thread(gpointer data)
{
    Printer *p = data;
    int job;
    usleep(400);
#ifdef FIXED
    printer_set_offline(p, TRUE);
    while ((job = printer_take_back(p)) != 0)
        submit(job);
#else
    while ((job = printer_take_back(p)) != 0)
        (void)printer_offer(&printers[1], job);
    printer_set_offline(p, TRUE);
#endif
    return NULL;
}

int main(void)
{
    GThread *threads[PRINTERS + CLIENTS + 1];
    int n = 0;
    for (int i = 0; i < PRINTERS; i++)
        threads[n++] = g_thread_new("printer", printer_thread, &printers[i]);
    for (int i = 0; i < CLIENTS; i++)
        threads[n++] = g_thread_new("client", client_thread, GINT_TO_POINTER(10 * (i + 1)));
    threads[n++] = g_thread_new("operator", operator_thread, &printers[0]);
    g_mutex_lock(&done_lock);
    while (finished < CLIENTS * JOBS)
        g_cond_wait(&done, &done_lock);
    g_mutex_unlock(&done_lock);
    for (int i = 0; i < PRINTERS; i++) {
        g_mutex_lock(&printers[i].lock);
        printers[i].stopping = TRUE;
        g_cond_signal(&printers[i].work);
        g_mutex_unlock(&printers[i].lock);
    }
    for (int i = 0; i < n; i++)
        g_thread_join(threads[i]);
    assert(printers[0].printed + printers[1].printed == CLIENTS * JOBS);
    printf("%d jobs\n", CLIENTS * JOBS);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
