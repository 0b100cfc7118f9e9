// Cause: s5_relay.c:78 on_input() decides to pause by the fill that it saw before the flush: when the flush then sends everything, reading is paused with an empty queue, POLLOUT is not asked for either, and the rest of the input is never relayed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD = 64, RECORDS = 24, SPACE = 1024, HIGH = 4 * RECORD };

static int input[2], output[2];

static void *source(void *arg)
{
    char record[RECORD];
    for (int i = 0; i < RECORDS; i++) {
        memset(record, 'a' + i, sizeof record);
        usleep(150); /* takes the measurement */
        for (size_t at = 0; at < sizeof record;) {
            ssize_t n = write(input[1], record + at, sizeof record - at);
            if (n > 0)
                at += (size_t)n;
        }
    }
    close(input[1]);
    return arg;
}

static void *sink(void *arg)
{
    char buffer[256];
    size_t *total = arg;
    for (;;) {
        ssize_t n = read(output[1], buffer, sizeof buffer);
        if (n == 0)
            return NULL;
        if (n > 0)
            *total += (size_t)n;
        usleep(50); /* stores it */
    }
}

static struct {
    char data[SPACE];
    size_t used;
    bool paused, end; /* paused: no POLLIN until the sink has caught up */
} q;

static void flush(void)
{
    while (q.used > 0) {
        ssize_t n = send(output[0], q.data, q.used, MSG_NOSIGNAL);
        if (n < 0)
            return;
        q.used -= (size_t)n;
        memmove(q.data, q.data + n, q.used);
    }
}

static void on_input(void)
{
    ssize_t n = read(input[0], q.data + q.used, SPACE - q.used);
    if (n == 0)
        q.end = true;
    if (n <= 0)
        return;
    q.used += (size_t)n;
#ifdef FIXED
    flush();
    q.paused = q.used >= HIGH;
#else
    q.paused = q.used >= HIGH;
    flush();
#endif
}

static void on_writable(void)
{
    flush();
    if (q.used < HIGH)
        q.paused = false;
}

int main(void)
{
    pthread_t threads[2];
    size_t total = 0;
    if (pipe2(input, O_CLOEXEC) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, output) < 0)
        return 1;
    fcntl(input[0], F_SETFL, O_NONBLOCK);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    pthread_create(&threads[0], NULL, source, NULL);
    pthread_create(&threads[1], NULL, sink, &total);
    while (!q.end || q.used > 0) {
        struct pollfd fds[2] = {{.fd = q.paused || q.end ? -1 : input[0], .events = POLLIN},
                                {.fd = q.used > 0 ? output[0] : -1, .events = POLLOUT}};
        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents)
            on_input();
        if (fds[1].revents)
            on_writable();
    }
    close(output[0]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("relayed %zu\n", total);
    return total == RECORD * RECORDS ? 0 : 1;
}
