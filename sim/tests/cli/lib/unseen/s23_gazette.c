/* Cause: lock order inversion (deadlock). journal() holds line_lock (33) while it calls deliver() (40), which takes registry_lock (25). sinks_rotate() holds registry_lock (72) and takes line_lock (75), when some sink has more than 2 lines. Order: a reporter has line_lock and is before 25; the janitor has registry_lock and is before 75; each waits for the other. Harm: hang (both, then every other reporter, and main in join). Fix: unlock line_lock before deliver() (36-38). (The journal under the registry lock in sink_add, 54, is never reached here.) */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SINKS 4
#define LINE 64

struct sink {
    char name[16];
    unsigned lines;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER; /* sinks, sink_count */
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;     /* tail, tail_length */
static struct sink sinks[SINKS];
static unsigned sink_count;
static char tail[16][LINE];
static unsigned tail_length;

static void deliver(const char *line)
{
    (void)line;
    pthread_mutex_lock(&registry_lock);
    for (unsigned i = 0; i < sink_count; i++)
        sinks[i].lines++;
    pthread_mutex_unlock(&registry_lock);
}

static void journal(const char *text)
{
    pthread_mutex_lock(&line_lock);
    snprintf(tail[tail_length % 16], LINE, "%s", text);
    tail_length++;
#ifdef FIXED
    pthread_mutex_unlock(&line_lock);
    deliver(text);
#else
    deliver(text); /* in the order of the lines */
    pthread_mutex_unlock(&line_lock);
#endif
}

static int sink_add(const char *name)
{
    int result = -1;
    pthread_mutex_lock(&registry_lock);
    for (unsigned i = 0; i < sink_count; i++)
        if (strcmp(sinks[i].name, name) == 0)
            goto out;
    if (sink_count == SINKS) {
#ifndef FIXED
        journal("registry: full");
#endif
        goto out;
    }
    snprintf(sinks[sink_count].name, sizeof sinks[0].name, "%s", name);
    sinks[sink_count++].lines = 0;
    result = 0;
out:
    pthread_mutex_unlock(&registry_lock);
#ifdef FIXED
    if (result < 0)
        journal("registry: not added");
#endif
    return result;
}

static void sinks_rotate(void)
{
    pthread_mutex_lock(&registry_lock);
    for (unsigned i = 0; i < sink_count; i++)
        if (sinks[i].lines > 2) {
            pthread_mutex_lock(&line_lock); /* the next file begins with a clean tail */
            tail_length = 0;
            sinks[i].lines = 0;
            pthread_mutex_unlock(&line_lock);
        }
    pthread_mutex_unlock(&registry_lock);
}

static void *reporter(void *argument)
{
    for (int i = 0; i < 4; i++) {
        journal(argument);
        usleep(200);
    }
    return NULL;
}

static void *janitor(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++) {
        usleep(250);
        sinks_rotate();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    sink_add("console");
    sink_add("file");
    pthread_create(&threads[0], NULL, reporter, "market opens");
    pthread_create(&threads[1], NULL, reporter, "rain at noon");
    pthread_create(&threads[2], NULL, janitor, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
