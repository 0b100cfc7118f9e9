/*
 * stream.h -- something that yields items until its end, and can be dropped before.
 *
 * To a stream what rt_future is to a future: a common head that users' streams embed, and
 * one pair of functions in which the rules are checked.
 *
 *      PENDING            nothing yet; the waker of the poll was stored
 *      READY, an item     borrowed until the next poll or the drop
 *      READY, NULL        the end: it must not be polled again
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_STREAM_H
#define RT_COMPOSE_STREAM_H

#include "runtime/compose/future.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_stream;

typedef rt_poll (*rt_stream_poll_fn)(struct rt_stream *stream, struct rt_cx *cx, void **ret_item);
typedef void (*rt_stream_drop_fn)(struct rt_stream *stream);

struct rt_stream {
    uint32_t magic;
    bool ended;
    rt_stream_poll_fn poll;
    rt_stream_drop_fn drop; /* NULL: nothing to give back. */
    const char *name;       /* Borrowed; for people. */
};

/* Makes a stream; `poll` must not be NULL, `drop` may be. `name` NULL: "stream". */
void rt_stream_init(
        struct rt_stream *stream, rt_stream_poll_fn poll, rt_stream_drop_fn drop, const char *name);

/*
 * Polls for the next item: READY with *ret_item, NULL at the end. After PENDING *ret_item is
 * unchanged. A stream that has ended or was dropped is fault RT_E_FINISHED (T20); one that parks is
 * a fault as well.
 */
rt_poll rt_stream_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item);

/* Drops it: calls `drop` once, unless it has ended. Polling it afterwards is a fault. */
void rt_stream_drop(struct rt_stream *stream);

/* A future as a stream: one item, the future itself, when it is READY; then the end. With it a
 * group of streams is a group of futures. */
struct rt_once {
    struct rt_stream stream;
    struct rt_future *future; /* Borrowed, pinned. */
};
void rt_once_init(struct rt_once *once, struct rt_future *future);

#ifdef __cplusplus
}
#endif
#endif
