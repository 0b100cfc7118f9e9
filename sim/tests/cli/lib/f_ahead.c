/*
 * f_ahead.c -- a reader of lines reads ahead; what it has too much is not looked at after that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static char ahead[64];
static size_t have;

static void *
sender(void *argument)
{
    if (write(ends[1], "4\n", 2) != 2) {
        abort();
    }
    usleep(1000);
    if (write(ends[1], "body", 4) != 4) {
        abort();
    }
    return argument;
}

static size_t
wait_and_read(char *to, size_t size)
{
    struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
    (void)poll(&wanted, 1, -1);
    ssize_t got = read(ends[0], to, size);
    return got > 0 ? (size_t)got : 0;
}

static void
read_line(void)
{
    while (memchr(ahead, '\n', have) == NULL) {
        have += wait_and_read(ahead + have, sizeof(ahead) - have);
    }
}

static void
read_body(char *body, size_t size)
{
    size_t done = 0;
    while (done < size) {
        done += wait_and_read(body + done, size - done);
    }
}

int
main(void)
{
    pthread_t thread;
    char body[4];
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, sender, NULL) != 0) {
        return 1;
    }
    read_line();
    read_body(body, sizeof(body));
    (void)pthread_join(thread, NULL);
    return memcmp(body, "body", 4) != 0;
}
