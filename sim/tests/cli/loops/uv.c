/*
 * uv.c -- a program over libuv: an echo over TCP, three pieces of work in its pool, an async wake
 * from a thread, and a timer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static uv_tcp_t server, client, accepted;
static uv_async_t async;
static uv_timer_t timer;
static uv_thread_t thread;
static int worked, woken, echoed;

static void
must(int status)
{
    if (status < 0) {
        fprintf(stderr, "uv: %s\n", uv_strerror(status));
        exit(1);
    }
}

static void
allocate(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    (void)handle;
    *ret = uv_buf_init(malloc(size), (unsigned)size);
}

static void
done(uv_write_t *request, int status)
{
    must(status);
    free(request);
}

static void
send_bytes(uv_stream_t *stream, const char *bytes, size_t size)
{
    uv_write_t *request = malloc(sizeof(*request));
    uv_buf_t buffer = uv_buf_init((char *)(size_t)bytes, (unsigned)size);
    must(uv_write(request, stream, &buffer, 1, done));
}

static void
on_echo(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    static char back[64];
    if (size > 0 && stream == (uv_stream_t *)&accepted) {
        memcpy(back, buffer->base, (size_t)size);
        send_bytes(stream, back, (size_t)size);
    } else if (size > 0) {
        echoed += (int)size;
        if (echoed == 5) {
            uv_close((uv_handle_t *)&client, NULL);
        }
    } else if (size < 0) {
        uv_close((uv_handle_t *)stream, NULL);
        uv_close((uv_handle_t *)&server, NULL);
    }
    free(buffer->base);
}

static void
on_connection(uv_stream_t *stream, int status)
{
    must(status);
    must(uv_tcp_init(stream->loop, &accepted));
    must(uv_accept(stream, (uv_stream_t *)&accepted));
    must(uv_read_start((uv_stream_t *)&accepted, allocate, on_echo));
}

static void
on_connect(uv_connect_t *request, int status)
{
    must(status);
    must(uv_read_start(request->handle, allocate, on_echo));
    send_bytes(request->handle, "hello", 5);
}

static void
work(uv_work_t *request)
{
    *(int *)request->data += 1;
}

static void
after_work(uv_work_t *request, int status)
{
    must(status);
    worked += *(int *)request->data;
}

static void
on_async(uv_async_t *handle)
{
    woken++;
    uv_close((uv_handle_t *)handle, NULL);
}

static void
wake(void *argument)
{
    must(uv_async_send(argument));
}

static void
on_timer(uv_timer_t *handle)
{
    uv_close((uv_handle_t *)handle, NULL);
}

int
main(void)
{
    static uv_work_t requests[3];
    static int results[3];
    static uv_connect_t connecting;
    struct sockaddr_in address;
    uv_loop_t *loop = uv_default_loop();
    must(uv_ip4_addr("127.0.0.1", 7000, &address));
    must(uv_tcp_init(loop, &server));
    must(uv_tcp_bind(&server, (const struct sockaddr *)&address, 0));
    must(uv_listen((uv_stream_t *)&server, 8, on_connection));
    must(uv_tcp_init(loop, &client));
    must(uv_tcp_connect(&connecting, &client, (const struct sockaddr *)&address, on_connect));
    for (int i = 0; i < 3; i++) {
        requests[i].data = &results[i];
        must(uv_queue_work(loop, &requests[i], work, after_work));
    }
    must(uv_async_init(loop, &async, on_async));
    must(uv_thread_create(&thread, wake, &async));
    must(uv_timer_init(loop, &timer));
    must(uv_timer_start(&timer, on_timer, 3000, 0));
    must(uv_run(loop, UV_RUN_DEFAULT));
    must(uv_thread_join(&thread));
    must(uv_loop_close(loop));
    printf("worked %d, woken %d, echoed %d\n", worked, woken, echoed);
    return worked == 3 && woken == 1 && echoed == 5 ? 0 : 1;
}
