/* Cause: commit(), line 61: one flusher is woken for a batch, but the flushers wait for different tickets, and one batch can reach several of them, or the woken one's ticket is not reached yet; the other is not woken again when it was the last batch; repair: all flushers are woken and look at their own tickets. */
/*
 * s16_logger.c -- a log with a writer thread; flush() returns when what was logged before is out.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINES 32
#define CALLERS 2

struct logger {
    pthread_mutex_t mutex;
    pthread_cond_t work;    /* For the writer. */
    pthread_cond_t flushed; /* For those who flush. */
    char lines[LINES][32];
    unsigned logged;  /* Lines so far. */
    unsigned written; /* Of these, out. */
    int closing;
};

static struct logger logger = {
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER,
        .flushed = PTHREAD_COND_INITIALIZER,
};

static void
log_line(const char *who, unsigned number)
{
    pthread_mutex_lock(&logger.mutex);
    assert(logger.logged < LINES);
    snprintf(logger.lines[logger.logged], sizeof logger.lines[0], "%s %u\n", who, number);
    logger.logged++;
    pthread_cond_signal(&logger.work);
    pthread_mutex_unlock(&logger.mutex);
}

/* Waits until everything that was logged up to now has been written. */
static void
flush(void)
{
    pthread_mutex_lock(&logger.mutex);
    unsigned ticket = logger.logged;
    while (logger.written < ticket) {
        pthread_cond_wait(&logger.flushed, &logger.mutex);
    }
    pthread_mutex_unlock(&logger.mutex);
}

/* The batch up to `end` is out; called with the mutex. */
static void
commit(unsigned end)
{
    logger.written = end;
#ifdef FIXED
    pthread_cond_broadcast(&logger.flushed);
#else
    pthread_cond_signal(&logger.flushed);
#endif
}

static void *
writer(void *argument)
{
    int out = *(int *)argument;
    pthread_mutex_lock(&logger.mutex);
    for (;;) {
        while (logger.written == logger.logged && !logger.closing) {
            pthread_cond_wait(&logger.work, &logger.mutex);
        }
        if (logger.written == logger.logged) {
            break;
        }
        unsigned begin = logger.written;
        unsigned end = logger.logged;
        pthread_mutex_unlock(&logger.mutex);
        for (unsigned i = begin; i < end; i++) {
            ssize_t n = write(out, logger.lines[i], strlen(logger.lines[i]));
            assert(n > 0);
        }
        pthread_mutex_lock(&logger.mutex);
        commit(end);
    }
    pthread_mutex_unlock(&logger.mutex);
    return NULL;
}

static void *
caller(void *argument)
{
    const char *name = argument;
    for (unsigned i = 0; i < 2; i++) {
        log_line(name, i);
        flush();
    }
    return NULL;
}

int
main(void)
{
    static const char *const names[CALLERS] = {"orders", "stock"};
    pthread_t threads[CALLERS];
    pthread_t writing;
    int ends[2];
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&writing, NULL, writer, &ends[1]);
    for (int i = 0; i < CALLERS; i++) {
        pthread_create(&threads[i], NULL, caller, (void *)names[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_lock(&logger.mutex);
    logger.closing = 1;
    pthread_cond_signal(&logger.work);
    pthread_mutex_unlock(&logger.mutex);
    pthread_join(writing, NULL);
    assert(logger.written == 2 * CALLERS);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
