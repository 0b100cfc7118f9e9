// Cause: main(), the line `if (size <= 0)`: it takes the end of the pipe (read() returns 0) for "nothing there yet" and
// polls again. When the download is cancelled, download() closes the pipe without sending 'q'; from then on poll()
// reports POLLHUP at once, read() returns 0, and the loop runs forever without ever ending.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define BLOCKS 3

static atomic_int cancelled;
static int blocks_fd;

static void *download(void *argument)
{
    for (int i = 0; i < BLOCKS; i++) {
        usleep(1000);
        if (cancelled)
            break;
        if (write(blocks_fd, "b", 1) != 1)
            return argument;
    }
    if (!cancelled && write(blocks_fd, "q", 1) != 1)
        return argument;
    close(blocks_fd);
    return argument;
}

static void *user(void *argument)
{
    usleep(8000);
    cancelled = 1;
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    int ends[2];
    int blocks = 0;
    int ended = 0;
    if (pipe(ends) != 0)
        return 2;
    blocks_fd = ends[1];
    pthread_create(&threads[0], NULL, download, NULL);
    pthread_create(&threads[1], NULL, user, NULL);
    while (!ended) {
        struct pollfd wanted = {.fd = ends[0], .events = POLLIN};
        char block = 0;
        if (poll(&wanted, 1, -1) != 1)
            continue;
        ssize_t size = read(ends[0], &block, 1);
#ifdef FIXED
        if (size == 0)
            break;
#endif
        if (size <= 0)
            continue;
        if (block == 'q')
            ended = 1;
        else
            blocks++;
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d blocks%s\n", blocks, ended ? "" : ", cancelled");
    return 0;
}
