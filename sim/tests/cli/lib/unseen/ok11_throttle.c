/*
 * ok11_throttle.c -- a reader with a rate limit: when it has had its share it leaves what is there
 * unread, takes the descriptor out of the poll set, and continues after a while.
 *
 * Cause: none, it is correct: data that waits is left alone on purpose, at most until the wait's own time is over
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SHARE 64
#define PERIOD_MS 5
#define TOTAL 300

struct reader {
    int fd;
    int share;     /* Bytes that it may read in this period. */
    long until_ms; /* The end of the period. */
    int received;
    int pauses;
    bool ended;
};

static long
now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

static void
reader_refill(struct reader *reader)
{
    long now = now_ms();
    if (now >= reader->until_ms) {
        reader->share = SHARE;
        reader->until_ms = now + PERIOD_MS;
    }
}

static void
reader_read(struct reader *reader)
{
    char buffer[SHARE];
    ssize_t n = recv(reader->fd, buffer, reader->share, MSG_DONTWAIT);
    if (n > 0) {
        reader->share -= n;
        reader->received += n;
    } else if (n == 0) {
        reader->ended = true;
    }
}

static void
reader_turn(struct reader *reader)
{
    reader_refill(reader);
    if (reader->share > 0) {
        struct pollfd set = {.fd = reader->fd, .events = POLLIN};
        if (poll(&set, 1, -1) == 1) {
            reader_read(reader);
        }
    } else {
        long rest = reader->until_ms - now_ms();
        reader->pauses++;
        poll(NULL, 0, rest > 0 ? (int)rest : 0);
    }
}

static void *
reader_main(void *argument)
{
    struct reader *reader = argument;
    while (!reader->ended) {
        reader_turn(reader);
    }
    return NULL;
}

static void *
writer_main(void *argument)
{
    int fd = *(int *)argument;
    char line[25];
    memset(line, 'x', sizeof line);
    for (int sent = 0; sent < TOTAL;) {
        ssize_t n = send(fd, line, sizeof line, 0);
        sent += n > 0 ? n : 0;
        usleep(sent % 100 == 0 ? 3000 : 0);
    }
    close(fd);
    return NULL;
}

int
main(void)
{
    int pair[2];
    pthread_t reading, writing;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        return 1;
    }
    struct reader reader = {.fd = pair[0]};
    pthread_create(&reading, NULL, reader_main, &reader);
    pthread_create(&writing, NULL, writer_main, &pair[1]);
    pthread_join(writing, NULL);
    pthread_join(reading, NULL);
    printf("%d bytes\n", reader.received);
    return reader.received != TOTAL || reader.pauses == 0;
}
// SPDX-License-Identifier: Apache-2.0
