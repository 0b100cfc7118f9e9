/*
 * uring_internal.h -- shared by uring.c, the ring, uring_net.c, its network, and uring_send.c.
 *
 * What a completion is about is its 64-bit word: the kind of operation, a number (a descriptor, a
 * send, a pollable), and a generation, so that one that comes after its socket was closed finds
 * none (U8).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_URING_INTERNAL_H
#define RT_HOST_URING_INTERNAL_H

#include <liburing.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "runtime/host/uring.h"

enum uring_kind {
    URING_NONE, /* Nothing has to be done about it: the answer of a cancel. */
    URING_NOTIFY,
    URING_DESCRIPTOR,
    URING_ACCEPT,
    URING_RECEIVE,
    URING_WRITABLE, /* A poll, for a connect. */
    URING_CHANGED,  /* A poll that continues, for a socket that is read and written directly. */
    URING_SEND,
    URING_LINGER /* The time of a send whose socket is closed is over. */
};

struct rt_uring_kernel {
    struct io_uring ring;
    struct io_uring_buf_ring *shared;
    size_t shared_size;
    char *bytes;                         /* RT_URING_BUFFERS times RT_URING_BUFFER. */
    uint16_t next[RT_URING_BUFFERS];     /* Of a socket's received buffers … */
    uint32_t received[RT_URING_BUFFERS]; /* … how full each is. */
};

/* One for each descriptor. */
struct rt_uring_socket {
    uint64_t token;
    uint32_t generation; /* Of its operations. */
    uint32_t events;     /* To be fetched. */
    int next_ready;      /* Descriptors; -1: the last. */
    int first_accepted;  /* Of a listener: connections, linked by next_accepted; -1: none. */
    int last_accepted;
    int next_accepted;
    int error;             /* errno of a receive, accept or send; the next call's answer. */
    uint32_t send;         /* Number plus 1; 0: none is under way. */
    uint32_t taken;        /* Bytes of the first buffer that were read. */
    uint16_t first_buffer; /* `held` of them, linked by `next`. */
    uint16_t last_buffer;
    uint16_t held;
    uint8_t kind; /* enum uring_socket_kind */
    bool watched;
    bool queued;      /* In the list of ready ones. */
    bool under_way;   /* An accept, a receive or a poll is with the kernel. */
    bool stopping;    /* And was cancelled. */
    bool ended;       /* The peer has sent its end. */
    bool wants_space; /* A write was answered RT_E_AGAIN. */
    bool shuts;       /* To be shut down when the send is done. */
};

enum uring_socket_kind {
    URING_UNKNOWN,
    URING_LISTENER,
    URING_CONNECTING,
    URING_STREAM,
    URING_DIRECT /* A pipe, or datagrams: the kernel says when, the calls are made here. */
};

struct rt_uring_send {
    int socket;          /* -1: it was closed. */
    int descriptor;      /* A duplicate that is ours, of a closed one; -1: none. */
    uint32_t generation; /* Of this use of the number. */
    uint32_t next_free;
    uint32_t from; /* To be sent: bytes[from .. size-1]. */
    uint32_t size;
    char bytes[RT_URING_SEND];
};

static inline uint64_t
uring_word(enum uring_kind kind, uint32_t number, uint32_t generation)
{
    rt_assert(number < 1u << 24);
    return (uint64_t)kind << 56 | (uint64_t)number << 32 | generation;
}

/* An empty submission; submits the others where there is no space. */
struct io_uring_sqe *uring_sqe(struct rt_uring *uring);

/* Submits what is there. */
void uring_submit(struct rt_uring *uring);

/* Cancels the operation `word`; its own completion says what has become of it. */
void uring_cancel(struct rt_uring *uring, uint64_t word);

/* Takes completions. `wait`: after running what the kernel has put off. */
void uring_look(struct rt_uring *uring);

/* ---- uring_net.c ----------------------------------------------------------------------------- */

static inline struct rt_uring_socket *
uring_socket_at(struct rt_uring *uring, int fd)
{
    rt_assert(fd >= 0 && (uint32_t)fd < uring->socket_count);
    return &uring->sockets[fd];
}

static inline int
uring_number_of(const struct rt_uring *uring, const struct rt_uring_socket *socket)
{
    return (int)(socket - uring->sockets);
}

/* RT_NET_… of a socket are to be fetched. */
void uring_report(struct rt_uring *uring, struct rt_uring_socket *socket, uint32_t events);

/* A completion of one of its kinds. */
void uring_net_completed(struct rt_uring *uring, uint64_t word, int result, uint32_t flags);

/* Whether there is something to fetch. */
static inline bool
uring_has_events(const struct rt_uring *uring)
{
    return uring->ready_first >= 0;
}

extern const struct rt_net_ops uring_net_ops;
rt_err uring_net_init(struct rt_uring *uring);
void uring_net_fini(struct rt_uring *uring);

/* ---- uring_send.c ---------------------------------------------------------------------------- */

/* Copies at most RT_URING_SEND bytes, to be sent from there. None is under way. */
rt_err uring_write_later(struct rt_uring *uring, struct rt_uring_socket *socket,
        const struct rt_net_part *parts, uint32_t count, size_t *ret_size);

/* The socket is closed while its send is under way: a duplicate keeps the connection until that is
 * done, or the time is over. */
void uring_let_linger(struct rt_uring *uring, struct rt_uring_socket *socket);

/* Completions of a send, and of the time of one that lingers. */
void uring_sent(struct rt_uring *uring, uint32_t number, uint32_t generation, int result);
void uring_linger_ended(struct rt_uring *uring, uint32_t number, uint32_t generation);

void uring_sends_fini(struct rt_uring *uring);

#endif
