/*
 * stream.h -- bytes that come in and go out through a host, awaited.
 *
 * A host's stream reads and writes what it can at once, answers RT_E_AGAIN where it cannot, and
 * has a pollable for "now you can" (S1). Here the three become one call that is awaited:
 *
 *      rt_read  ──▶ host read ── bytes, the end, an error ──▶ READY
 *                     │ nothing now
 *                     ▼
 *                   wait for the pollable ── it is ready ──▶ host read again
 *
 * An input and an output are the runtime's view of one such stream each, with its own pollable and
 * wait. Streams of hosts are behind a table of calls, as hosts are (host.h).
 *
 * No bytes are no end. A host may answer a read with nothing although its pollable is ready
 * (N3): it is read once more, then the task yields and reads again at its next poll. The end
 * is RT_E_CLOSED and nothing else.
 *
 * Cancel-safe. A read or write that answered PENDING has moved no byte; dropping it loses none.
 *
 * Ownership. An input or output owns the host's stream from init to drop, and is pinned; so
 * are the buffers of a future until it is READY or dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_STREAM_H
#define RT_IO_STREAM_H

#include <stddef.h>

#include "runtime/compose/future.h"
#include "runtime/io/reactor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a host supplies. `await`: the user's line; pass it on to the watcher. -------------- */

struct rt_input_ops {
    /*
     * Moves at most `size` (at least 1) bytes, now. RT_OK with *ret_size, where 0 is "nothing now"
     * as RT_E_AGAIN is; RT_E_CLOSED at the end; any other error as the host has it.
     */
    rt_err (*read)(
            void *stream, void *buffer, size_t size, size_t *ret_size, const struct rt_site *await);
    /* Interest in "a read would not answer nothing". */
    rt_err (*subscribe)(void *stream, struct rt_pollable *pollable);
    /* Drops the stream; RT_E_HAS_CHILDREN while pollables of it are alive (P9). */
    rt_err (*drop)(void *stream);
};

struct rt_output_ops {
    /* As read. RT_E_CLOSED: the peer takes no more bytes (N6). */
    rt_err (*write)(void *stream, const void *buffer, size_t size, size_t *ret_size,
            const struct rt_site *await);
    rt_err (*subscribe)(void *stream, struct rt_pollable *pollable);
    rt_err (*drop)(void *stream);
};

/* ---- Input. ---------------------------------------------------------------------------------- */

struct rt_input {
    uint32_t magic;
    const struct rt_input_ops *ops;
    void *stream; /* The host's. */
    struct rt_pollable pollable;
    struct rt_wait wait;
};

/* What a call has moved, and its result. */
struct rt_moved {
    rt_err err;
    size_t size; /* 0 unless `err` is RT_OK. */
};

/* Takes the host's `stream` and subscribes to it. Errors of `subscribe`: the stream stays its
 * owner's, and nothing else has changed. */
RT_MUST_CHECK rt_err rt_input_init(
        struct rt_input *input, const struct rt_input_ops *ops, void *stream);

/*
 * READY with what one read has moved into `buffer`: at least 1 and at most `size` bytes;
 * RT_E_CLOSED at the end; RT_E_INVALID for `size` 0; else the host's error. One task reads at a
 * time: another one replaces it (W11). *ret stays as it is after PENDING.
 */
#define rt_read(input, buffer, size, cx, ret) \
    rt_read_at((input), (buffer), (size), (cx), (ret), RT_HERE)
rt_poll rt_read_at(struct rt_input *input, void *buffer, size_t size, struct rt_cx *cx,
        struct rt_moved *ret, const struct rt_site *await);

/* Cancels a read that is PENDING. None is: no-op. */
#define rt_read_cancel(input) rt_read_cancel_at((input), RT_HERE)
void rt_read_cancel_at(struct rt_input *input, const struct rt_site *await);

/* Cancels a pending read, drops the pollable, then the host's stream (P9). RT_E_HAS_CHILDREN when
 * other pollables of it exist: the stream is its owner's again then. */
#define rt_input_drop(input) rt_input_drop_at((input), RT_HERE)
RT_MUST_CHECK rt_err rt_input_drop_at(struct rt_input *input, const struct rt_site *await);

/*
 * A future that reads to the end, into a buffer of the caller's.
 *
 * READY with `err`: RT_OK, the end was reached and `length` bytes are in the buffer; RT_E_FULL, the
 * *buffer* is too small: it is full, one byte more was read, which is in `spill`, and the
 * input continues after that; else the host's error, with `length` bytes read before it. A buffer
 * of exactly the right size is no error. Dropped before: what was read is in the buffer, the rest
 * is still in the stream.
 */
struct rt_read_to_end {
    struct rt_future future;
    struct rt_input *input;
    char *buffer;
    size_t size;
    size_t length;
    rt_err err;
    char spill;
    const struct rt_site *await; /* For traces: the line that made it. */
};

/* `buffer` may be NULL when `size` is 0: then any byte at all is RT_E_FULL. */
#define rt_read_to_end_init(read, input, buffer, size) \
    rt_read_to_end_init_at((read), (input), (buffer), (size), RT_HERE)
void rt_read_to_end_init_at(struct rt_read_to_end *read, struct rt_input *input, void *buffer,
        size_t size, const struct rt_site *await);

/* ---- Output. --------------------------------------------------------------------------------- */

struct rt_output {
    uint32_t magic;
    const struct rt_output_ops *ops;
    void *stream;
    struct rt_pollable pollable;
    struct rt_wait wait;
};

/* As rt_input_init. */
RT_MUST_CHECK rt_err rt_output_init(
        struct rt_output *output, const struct rt_output_ops *ops, void *stream);

/* As rt_read, with one write of at most `size` bytes from `buffer`. */
#define rt_write(output, buffer, size, cx, ret) \
    rt_write_at((output), (buffer), (size), (cx), (ret), RT_HERE)
rt_poll rt_write_at(struct rt_output *output, const void *buffer, size_t size, struct rt_cx *cx,
        struct rt_moved *ret, const struct rt_site *await);

/* As rt_read_cancel and rt_input_drop. */
#define rt_write_cancel(output) rt_write_cancel_at((output), RT_HERE)
void rt_write_cancel_at(struct rt_output *output, const struct rt_site *await);
#define rt_output_drop(output) rt_output_drop_at((output), RT_HERE)
RT_MUST_CHECK rt_err rt_output_drop_at(struct rt_output *output, const struct rt_site *await);

/*
 * A future that writes a whole buffer, in as many writes as it takes. READY with `err`: RT_OK, or
 * the host's error with `written` bytes written before it. Dropped before: `written` bytes are
 * written; to continue, write the rest. `size` 0 is RT_OK at once.
 */
struct rt_write_all {
    struct rt_future future;
    struct rt_output *output;
    const char *buffer;
    size_t size;
    size_t written;
    rt_err err;
    const struct rt_site *await; /* For traces: the line that made it. */
};

#define rt_write_all_init(write, output, buffer, size) \
    rt_write_all_init_at((write), (output), (buffer), (size), RT_HERE)
void rt_write_all_init_at(struct rt_write_all *write, struct rt_output *output, const void *buffer,
        size_t size, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
