// Cause: consumer(), the line `if (queued == LOW)`: the consumer takes everything that is there at once, so the number
// of queued packets may pass the low-water mark without being equal to it. Then it does not call uv_async_send(), and
// the reading that on_packet() has stopped at the high-water mark is never started again.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#define PACKETS 12
#define HIGH 4
#define LOW 1
#define TAKES 2 /* packets at a time, at most */

static uv_pipe_t input;
static uv_async_t drained;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int queued;
static int received;
static int stopped;

static void on_packet(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer);

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    static char bytes[1]; /* A packet is a byte. */
    (void)handle;
    (void)size;
    *buffer = uv_buf_init(bytes, sizeof(bytes));
}

static void on_packet(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    (void)buffer;
    if (size <= 0)
        return;
    pthread_mutex_lock(&mutex);
    received++;
    queued++;
    if (queued >= HIGH && received < PACKETS) {
        stopped = 1;
        uv_read_stop(stream);
    }
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
    if (received == PACKETS) {
        uv_close((uv_handle_t *)&input, NULL);
        uv_close((uv_handle_t *)&drained, NULL);
    }
}

static void on_drained(uv_async_t *handle)
{
    (void)handle;
    pthread_mutex_lock(&mutex);
    int starts = stopped;
    stopped = 0;
    pthread_mutex_unlock(&mutex);
    if (starts)
        uv_read_start((uv_stream_t *)&input, on_alloc, on_packet);
}

static void *consumer(void *argument)
{
    int taken = 0;
    pthread_mutex_lock(&mutex);
    while (taken < PACKETS) {
        while (queued == 0)
            pthread_cond_wait(&filled, &mutex);
        int count = queued < TAKES ? queued : TAKES;
        queued -= count;
        taken += count;
#ifdef FIXED
        if (stopped && queued <= LOW)
#else
        if (queued == LOW)
#endif
            uv_async_send(&drained);
        pthread_mutex_unlock(&mutex);
        usleep(300); /* It works on them. */
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void)
{
    int ends[2];
    pthread_t thread;
    char packets[PACKETS];
    uv_loop_t *loop = uv_default_loop();
    memset(packets, 'p', sizeof(packets));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 2;
    uv_async_init(loop, &drained, on_drained);
    uv_pipe_init(loop, &input, 0);
    uv_pipe_open(&input, ends[0]);
    uv_read_start((uv_stream_t *)&input, on_alloc, on_packet);
    pthread_create(&thread, NULL, consumer, NULL);
    if (write(ends[1], packets, sizeof(packets)) != PACKETS)
        return 2;
    uv_run(loop, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
    printf("%d packets\n", received);
    close(ends[1]);
    return 0;
}
