// Cause: s5_uvasync.c:72 on_ready() takes one frame per call although libuv merges several uv_async_send() into one call: when two frames are sent before the loop runs, one stays in the queue with no call to come, and the count of frames never gets complete.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#define DECODERS 2
#define FRAMES 4

struct frame {
    struct frame *next;
    int decoder, number;
};

static struct {
    uv_mutex_t lock;
    struct frame *head, **tail;
    uv_async_t ready;
    int left;
} screen;

static void decode(void *arg)
{
    int id = (int)(size_t)arg;
    for (int i = 0; i < FRAMES; i++) {
        struct frame *frame = malloc(sizeof *frame);
        if (!frame)
            abort();
        frame->next = NULL;
        frame->decoder = id;
        frame->number = i;
        usleep(500 + 300 * (useconds_t)id); /* decodes it */
        uv_mutex_lock(&screen.lock);
        *screen.tail = frame;
        screen.tail = &frame->next;
        uv_async_send(&screen.ready); /* inside: ready is closed after the last frame */
        uv_mutex_unlock(&screen.lock);
    }
}

static struct frame *next_frame(void)
{
    uv_mutex_lock(&screen.lock);
    struct frame *frame = screen.head;
    if (frame) {
        screen.head = frame->next;
        if (!screen.head)
            screen.tail = &screen.head;
    }
    uv_mutex_unlock(&screen.lock);
    return frame;
}

static void show(struct frame *frame)
{
    printf("frame %d.%d\n", frame->decoder, frame->number);
    free(frame);
    if (--screen.left == 0)
        uv_close((uv_handle_t *)&screen.ready, NULL);
}

static void on_ready(uv_async_t *async)
{
    struct frame *frame;
    (void)async;
#ifdef FIXED
    while ((frame = next_frame()))
#else
    if ((frame = next_frame()))
#endif
        show(frame);
}

int main(void)
{
    uv_thread_t threads[DECODERS];
    uv_loop_t loop;
    uv_loop_init(&loop);
    uv_mutex_init(&screen.lock);
    screen.tail = &screen.head;
    screen.left = DECODERS * FRAMES;
    uv_async_init(&loop, &screen.ready, on_ready);
    for (size_t i = 0; i < DECODERS; i++)
        if (uv_thread_create(&threads[i], decode, (void *)i))
            return 1;
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < DECODERS; i++)
        uv_thread_join(&threads[i]);
    uv_mutex_destroy(&screen.lock);
    return uv_loop_close(&loop) ? 1 : 0;
}
