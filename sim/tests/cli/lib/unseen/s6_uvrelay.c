// Cause: s6_uvrelay.c:54 whether to read on is decided before the bytes just written are subtracted: when this was the last write under way the count is still above the low mark, and no other write will ask again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#define TOTAL (512 * 1024)
#define BLOCK (32 * 1024)
#define HIGH (48 * 1024)
#define LOW (8 * 1024)

struct piece {
    uv_write_t request;
    uv_buf_t buffer;
};

static uv_pipe_t input, output;
static uv_shutdown_t ending;
static size_t under_way;
static int paused;

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer);

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
    (void)handle;
    (void)suggested;
    *ret = uv_buf_init(malloc(BLOCK), BLOCK);
}

static void read_on_if_low(void)
{
    if (paused && under_way < LOW) {
        paused = 0;
        uv_read_start((uv_stream_t *)&input, on_alloc, on_read);
    }
}

static void on_written(uv_write_t *request, int status)
{
    struct piece *piece = (struct piece *)request;
    if (status != 0)
        abort();
#ifdef FIXED
    under_way -= piece->buffer.len;
    read_on_if_low();
#else
    read_on_if_low();
    under_way -= piece->buffer.len;
#endif
    free(piece->buffer.base);
    free(piece);
}

static void on_ended(uv_shutdown_t *request, int status)
{
    (void)request;
    (void)status;
    uv_close((uv_handle_t *)&input, NULL);
    uv_close((uv_handle_t *)&output, NULL);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    if (size <= 0) {
        free(buffer->base);
        if (size == UV_EOF) {
            uv_read_stop(stream);
            uv_shutdown(&ending, (uv_stream_t *)&output, on_ended);
        }
        return;
    }
    struct piece *piece = malloc(sizeof *piece);
    piece->buffer = uv_buf_init(buffer->base, (unsigned)size);
    under_way += (size_t)size;
    uv_write(&piece->request, (uv_stream_t *)&output, &piece->buffer, 1, on_written);
    if (under_way >= HIGH) {
        paused = 1;
        uv_read_stop(stream);
    }
}

static void *producer(void *argument)
{
    static char data[4096];
    int fd = *(int *)argument;
    for (size_t sent = 0; sent < TOTAL;) {
        size_t size = TOTAL - sent < sizeof data ? TOTAL - sent : sizeof data;
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            abort();
        sent += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return NULL;
}

static void *consumer(void *argument)
{
    static char data[BLOCK];
    int fd = *(int *)argument;
    size_t received = 0;
    for (;;) {
        ssize_t n = read(fd, data, sizeof data);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            abort();
        received += n > 0 ? (size_t)n : 0;
        usleep(200);
    }
    printf("%zu bytes\n", received);
    return NULL;
}

int main(void)
{
    int in[2], out[2];
    pthread_t threads[2];
    uv_loop_t *loop = uv_default_loop();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, in) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, out) != 0)
        return 1;
    uv_pipe_init(loop, &input, 0);
    uv_pipe_init(loop, &output, 0);
    uv_pipe_open(&input, in[0]);
    uv_pipe_open(&output, out[0]);
    uv_read_start((uv_stream_t *)&input, on_alloc, on_read);
    pthread_create(&threads[0], NULL, producer, &in[1]);
    pthread_create(&threads[1], NULL, consumer, &out[1]);
    uv_run(loop, UV_RUN_DEFAULT);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    uv_loop_close(loop);
    return 0;
}
