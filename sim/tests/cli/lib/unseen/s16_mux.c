/* Cause: on_output(), line 73: the interest in the output is dropped when the whole chunk was written, although the chunk is at most 256 bytes and the queue may hold more; append() asks for it again only where the queue was empty, so what is left is never written; repair: the interest is dropped only when the queue is empty. */
/*
 * s16_mux.c -- two instruments write into pipes; a collector merges them into one output: poll().
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTRUMENTS 2
#define SAMPLE 100
#define SAMPLES 4
#define CHUNK 256
#define TOTAL (INSTRUMENTS * SAMPLES * SAMPLE)

struct collector {
    struct pollfd polls[INSTRUMENTS + 1]; /* The last one: the output. */
    char queue[TOTAL];
    size_t used;
    size_t written;
    int open;
};

struct instrument {
    int fd;
    char mark;
};

static void
append(struct collector *collector, const char *bytes, size_t size)
{
    if (collector->used == 0) {
        collector->polls[INSTRUMENTS].events |= POLLOUT;
    }
    assert(collector->used + size <= sizeof collector->queue);
    memcpy(collector->queue + collector->used, bytes, size);
    collector->used += size;
}

static void
on_input(struct collector *collector, struct pollfd *input)
{
    char bytes[2 * CHUNK];
    ssize_t n = read(input->fd, bytes, sizeof bytes);
    if (n > 0) {
        append(collector, bytes, (size_t)n);
    } else if (n == 0) {
        close(input->fd);
        input->fd = -1;
        collector->open--;
    }
}

/* Small writes, so that the display at the other end moves evenly. */
static void
on_output(struct collector *collector, struct pollfd *output)
{
    size_t chunk = collector->used < CHUNK ? collector->used : CHUNK;
    ssize_t n = write(output->fd, collector->queue, chunk);
    if (n < 0) {
        return;
    }
    collector->used -= (size_t)n;
    collector->written += (size_t)n;
    memmove(collector->queue, collector->queue + n, collector->used);
#ifdef FIXED
    if (collector->used == 0) {
#else
    if ((size_t)n == chunk) {
#endif
        output->events &= (short)~POLLOUT;
    }
}

static void *
collector_main(void *argument)
{
    struct collector *collector = argument;
    struct pollfd *output = &collector->polls[INSTRUMENTS];
    while (collector->open > 0 || collector->used > 0) {
        int n = poll(collector->polls, INSTRUMENTS + 1, -1);
        assert(n > 0);
        for (int i = 0; i < INSTRUMENTS; i++) {
            if (collector->polls[i].revents & (POLLIN | POLLHUP)) {
                on_input(collector, &collector->polls[i]);
            }
        }
        if (output->revents & POLLOUT) {
            on_output(collector, output);
        }
    }
    close(output->fd);
    return NULL;
}

static void *
instrument_main(void *argument)
{
    struct instrument *instrument = argument;
    char sample[SAMPLE];
    memset(sample, instrument->mark, sizeof sample);
    for (int i = 0; i < SAMPLES; i++) {
        ssize_t n = write(instrument->fd, sample, sizeof sample);
        assert(n == SAMPLE);
        usleep(200);
    }
    close(instrument->fd);
    return NULL;
}

int
main(void)
{
    static struct collector collector = {.open = INSTRUMENTS};
    static struct instrument instruments[INSTRUMENTS] = {{-1, 'a'}, {-1, 'b'}};
    pthread_t threads[INSTRUMENTS + 1];
    int out[2];
    int rc = pipe2(out, O_CLOEXEC);
    for (int i = 0; i < INSTRUMENTS; i++) {
        int in[2];
        rc |= pipe2(in, O_CLOEXEC);
        collector.polls[i] = (struct pollfd){.fd = in[0], .events = POLLIN};
        instruments[i].fd = in[1];
    }
    assert(rc == 0);
    collector.polls[INSTRUMENTS] = (struct pollfd){.fd = out[1]};
    pthread_create(&threads[INSTRUMENTS], NULL, collector_main, &collector);
    for (int i = 0; i < INSTRUMENTS; i++) {
        pthread_create(&threads[i], NULL, instrument_main, &instruments[i]);
    }
    size_t shown = 0;
    char bytes[512];
    for (ssize_t n; (n = read(out[0], bytes, sizeof bytes)) > 0;) {
        shown += (size_t)n;
    }
    for (int i = 0; i <= INSTRUMENTS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(shown == TOTAL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
