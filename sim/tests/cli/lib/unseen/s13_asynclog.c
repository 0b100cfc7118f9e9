/* An asynchronous log: threads append records, one writer batches them, callers may wait for a flush.
 * Cause: writer_main() line 88: a batch completes the flushes of several threads that wait for
 * different records, but only one is signalled (it may be one whose record is not written yet);
 * repair: broadcast `written`. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RING 16
#define BATCH 3
#define LINE 48

struct record {
    uint64_t seq;
    char text[LINE];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;  /* The writer waits for records. */
    pthread_cond_t space;   /* Appenders wait for space. */
    pthread_cond_t written; /* Flushers wait for `done`. */
    struct record ring[RING];
    uint64_t head; /* The next record to append. */
    uint64_t tail; /* The next one to write. */
    uint64_t done; /* All before this one are in the file. */
    bool closing;
    int fd;
} logger = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .filled = PTHREAD_COND_INITIALIZER,
    .space = PTHREAD_COND_INITIALIZER,
    .written = PTHREAD_COND_INITIALIZER,
};

static uint64_t log_append(const char *text)
{
    pthread_mutex_lock(&logger.lock);
    while (logger.head - logger.done == RING)
        pthread_cond_wait(&logger.space, &logger.lock);
    struct record *record = &logger.ring[logger.head % RING];
    record->seq = logger.head;
    snprintf(record->text, sizeof(record->text), "%s\n", text);
    uint64_t seq = logger.head++;
    pthread_cond_signal(&logger.filled);
    pthread_mutex_unlock(&logger.lock);
    return seq;
}

static void log_flush(uint64_t seq)
{
    pthread_mutex_lock(&logger.lock);
    while (logger.done <= seq)
        pthread_cond_wait(&logger.written, &logger.lock);
    pthread_mutex_unlock(&logger.lock);
}

static void *writer_main(void *argument)
{
    struct record batch[BATCH];

    pthread_mutex_lock(&logger.lock);
    for (;;) {
        while (logger.tail == logger.head && !logger.closing)
            pthread_cond_wait(&logger.filled, &logger.lock);
        if (logger.tail == logger.head)
            break;
        unsigned n = 0;
        while (n < BATCH && logger.tail != logger.head)
            batch[n++] = logger.ring[logger.tail++ % RING];
        pthread_mutex_unlock(&logger.lock);

        for (unsigned i = 0; i < n; i++) {
            ssize_t size = (ssize_t)strlen(batch[i].text);
            assert(write(logger.fd, batch[i].text, (size_t)size) == size);
        }

        pthread_mutex_lock(&logger.lock);
        logger.done += n;
        pthread_cond_broadcast(&logger.space);
#ifdef FIXED
        pthread_cond_broadcast(&logger.written);
#else
        pthread_cond_signal(&logger.written);
#endif
    }
    pthread_mutex_unlock(&logger.lock);
    return argument;
}

static void *service_main(void *argument)
{
    char text[32];
    uint64_t last = 0;

    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "service %ld: event %d", (long)argument, i);
        last = log_append(text);
    }
    log_flush(last); /* The client gets its answer when the events are in the log. */
    return NULL;
}

int main(void)
{
    pthread_t writer, services[3];
    int pipes[2];

    assert(pipe(pipes) == 0);
    logger.fd = pipes[1];
    pthread_create(&writer, NULL, writer_main, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&services[i], NULL, service_main, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(services[i], NULL);

    pthread_mutex_lock(&logger.lock);
    logger.closing = true;
    pthread_cond_signal(&logger.filled);
    pthread_mutex_unlock(&logger.lock);
    pthread_join(writer, NULL);
    assert(logger.done == 9 && logger.tail == logger.head);
    close(pipes[0]);
    close(pipes[1]);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
