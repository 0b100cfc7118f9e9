/*
 * stream.c -- polling for items and dropping, with the rules checked; a future as a stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/stream.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define RT_STREAM_MAGIC 0x52535452u

static void
check_stream(const struct rt_stream *stream)
{
    rt_assert(stream != NULL);
    if (__builtin_expect(stream->magic != RT_STREAM_MAGIC, 0)) {
        rt_fault(RT_E_INVALID, NULL, "a stream was used that rt_stream_init never made");
    }
}

void
rt_stream_init(
        struct rt_stream *stream, rt_stream_poll_fn poll, rt_stream_drop_fn drop, const char *name)
{
    rt_assert(stream != NULL);
    rt_assert(poll != NULL);
    *stream = (struct rt_stream){
            .magic = RT_STREAM_MAGIC,
            .poll = poll,
            .drop = drop,
            .name = name != NULL ? name : "stream",
    };
}

rt_poll
rt_stream_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    check_stream(stream);
    rt_cx_check(cx);
    rt_assert(ret_item != NULL);
    if (stream->ended) {
        rt_fault(RT_E_FINISHED, stream->name, "a stream was polled that has ended or was dropped");
    }
    void *item = NULL;
    switch (stream->poll(stream, cx, &item)) {
    case RT_PENDING:
        return RT_PENDING;
    case RT_READY:
        stream->ended = item == NULL;
        *ret_item = item;
        return RT_READY;
    case RT_PARKED:
        break;
    }
    rt_fault(RT_E_INVALID, stream->name, "a stream answers PENDING or READY, nothing else");
}

void
rt_stream_drop(struct rt_stream *stream)
{
    check_stream(stream);
    if (stream->ended) {
        return;
    }
    stream->ended = true; /* Before `drop`, which may re-enter. */
    if (stream->drop != NULL) {
        stream->drop(stream);
    }
}

static struct rt_once *
once_of(struct rt_stream *stream)
{
    struct rt_once *once = rt_container_of(stream, struct rt_once, stream);
    rt_assert(once->future != NULL);
    return once;
}

static rt_poll
once_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct rt_future *future = once_of(stream)->future;
    if (!future->finished) {
        RT_AWAIT(rt_future_poll(future, cx));
        *ret_item = future;
    }
    return RT_READY;
}

static void
once_drop(struct rt_stream *stream)
{
    rt_future_drop(once_of(stream)->future);
}

void
rt_once_init(struct rt_once *once, struct rt_future *future)
{
    rt_assert(once != NULL);
    rt_assert(future != NULL);
    *once = (struct rt_once){.future = future};
    rt_stream_init(&once->stream, once_poll, once_drop, future->name);
}
