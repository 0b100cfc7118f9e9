/*
 * net.h -- the seam to a network: sockets whose calls never block, and edges in batches.
 *
 *      calls      listen, connect, accept, read, write …      RT_E_AGAIN: would have to wait
 *      interest   watch(socket, token) ──▶ edges ──▶ fetch: a batch of (token, events)
 *      waiting    subscribe: one pollable, ready while there is something to fetch
 *
 * Edges. A network reports *changes*, as epoll(7) does with EPOLLET. It promises one thing: after a
 * call has answered RT_E_AGAIN, an event follows once the call would no longer do so; the start of
 * a connect or of a listen counts as such a call, for both directions. It may report false
 * readiness (the call then answers RT_E_AGAIN), several changes as one event, some of what it has
 * and the rest later, in any order; and what no call has asked for in vain not at all, as a host
 * over io_uring. An event that was fetched may be about a socket that was closed meanwhile; that is
 * why a token carries a generation.
 *
 * Two phases. What takes time is started by one call and finished by another (N5, WASI): between
 * them the socket is watched, and its WRITABLE means that finishing is worth a try.
 *
 * Hosts over epoll implement this with accept4, getsockopt(SO_ERROR), epoll_ctl and epoll_wait with
 * timeout 0; their pollable is the epoll descriptor. The simulated one is sim/host.
 *
 * Ownership. A network outlives its sockets; a socket is a number, the caller's from the call that
 * made it to rt_net_close.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_NET_H
#define RT_IO_NET_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/io/host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_net;

/* An IPv6 address and a port; IPv4 a.b.c.d is ::ffff:a.b.c.d. */
struct rt_net_address {
    uint8_t ip[16];
    uint16_t port;
};

/* The address a.b.c.d with `port`. */
struct rt_net_address rt_net_address_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port);

/* Bits of an event. */
#define RT_NET_READABLE 1u     /* Bytes, or a connection, or an end to be read. */
#define RT_NET_WRITABLE 2u     /* Buffer space; or what was started can be finished. */
#define RT_NET_READ_CLOSED 4u  /* Nothing will follow what is there: the peer has shut down. */
#define RT_NET_WRITE_CLOSED 8u /* The peer reads no more. */
#define RT_NET_ERROR 16u       /* Reported without interest; the next call returns the error. */
#define RT_NET_HANGUP 32u      /* Reported without interest: both directions are closed. */
#define RT_NET_EVENTS 63u

struct rt_net_event {
    uint64_t token; /* As given to watch. */
    uint32_t events;
};

/* Some of the bytes of one write. */
struct rt_net_part {
    const void *bytes; /* May be NULL where `size` is 0. */
    size_t size;
};

/* The most parts of one write. */
#define RT_NET_PARTS 64u

/* The bytes of all parts. */
size_t rt_net_size(const struct rt_net_part *parts, uint32_t count);

/* A datagram as it was received. */
struct rt_net_datagram {
    size_t size;      /* Bytes in the buffer. */
    size_t full_size; /* Bytes that it had: more than `size` when it was cut off (N9). */
    struct rt_net_address from;
};

struct rt_net_ops {
    /* Starts to listen at `address` with space for `backlog` connections that are not accepted yet.
     * RT_E_ADDRESS_IN_USE, RT_E_NO_DESCRIPTOR. */
    rt_err (*listen_start)(struct rt_net *net, const struct rt_net_address *address,
            uint32_t backlog, int *ret_socket);
    /* RT_OK: it listens. RT_E_AGAIN: not yet. Other errors: it never will. */
    rt_err (*listen_finish)(struct rt_net *net, int socket);
    /* Starts to connect. RT_E_NO_DESCRIPTOR; an error of connect_finish that is known at once. */
    rt_err (*connect_start)(
            struct rt_net *net, const struct rt_net_address *address, int *ret_socket);
    /* To be called after WRITABLE only (N4): a host over epoll reads SO_ERROR, which is no error
     * also while the connection is being made. RT_OK: connected. RT_E_AGAIN: WRITABLE was false.
     * RT_E_REFUSED, RT_E_RESET, RT_E_TIMED_OUT. */
    rt_err (*connect_finish)(struct rt_net *net, int socket);
    /* Takes one connection. RT_E_AGAIN. RT_E_ABORTED: one that is gone already; RT_E_NO_DESCRIPTOR:
     * it stays in the backlog; the listener stays usable in both cases (N2). */
    rt_err (*accept)(
            struct rt_net *net, int socket, int *ret_socket, struct rt_net_address *ret_peer);
    /* Moves at most `size` (> 0) bytes, often fewer. RT_OK; of `read` also with *ret_size 0, which
     * is "nothing now", not the end (WASI, N3). RT_E_AGAIN. RT_E_CLOSED: of `read` the end; of
     * `write` that the peer reads no more, without a signal (N6). RT_E_RESET. */
    rt_err (*read)(struct rt_net *net, int socket, void *buffer, size_t size, size_t *ret_size,
            const struct rt_site *await);
    /* The bytes of `count` parts (1 to RT_NET_PARTS, not all empty) as if they were one (N7). */
    rt_err (*write)(struct rt_net *net, int socket, const struct rt_net_part *parts, uint32_t count,
            size_t *ret_size, const struct rt_site *await);
    /* Nothing more will be written: the peer reads the end. RT_E_CLOSED: called before, or there is
     * no connection any more. */
    rt_err (*shutdown)(struct rt_net *net, int socket);
    /* Streams within the machine (local.h), used by the calls above. listen: as listen_start, and
     * RT_E_INVALID: no path, or one that is too long. connect: RT_E_REFUSED, RT_E_FULL (the backlog
     * is) at once. forget: frees the path of a listener that is about to be closed. pipe: [0] is
     * read, [1] written; the other call of each is RT_E_INVALID. */
    rt_err (*local_listen)(struct rt_net *net, const char *path, uint32_t backlog, int *ret_socket);
    rt_err (*local_connect)(struct rt_net *net, const char *path, int *ret_socket);
    void (*local_forget)(struct rt_net *net, int socket);
    rt_err (*pipe)(struct rt_net *net, int ret_sockets[2]);

    /* Datagrams (udp.h). bind: *ret_local has the port that port 0 became. RT_E_ADDRESS_IN_USE,
     * RT_E_NO_DESCRIPTOR. connect: from now on those of `peer` only. */
    rt_err (*udp_bind)(struct rt_net *net, const struct rt_net_address *address, int *ret_socket,
            struct rt_net_address *ret_local);
    rt_err (*udp_connect)(struct rt_net *net, int socket, const struct rt_net_address *peer);
    /* `to` NULL: to the peer. RT_OK says that it was sent, not that it arrives. RT_E_AGAIN.
     * RT_E_INVALID: it is too long. RT_E_REFUSED: an earlier one has found no socket. */
    rt_err (*send_to)(struct rt_net *net, int socket, const struct rt_net_address *to,
            const void *bytes, size_t size, const struct rt_site *await);
    /* Takes one. RT_E_AGAIN. RT_E_REFUSED as send_to. */
    rt_err (*receive_from)(struct rt_net *net, int socket, void *buffer, size_t size,
            struct rt_net_datagram *ret_datagram, const struct rt_site *await);

    /* Closes it; the number is free at once. It is unwatched by then. */
    void (*close)(struct rt_net *net, int socket);

    /* From now on both directions of `socket` are reported under `token`; what is true already may
     * be reported too. `token`: at least 2^32. *ret_object: its number in traces, or 0.
     * RT_E_FULL. */
    rt_err (*watch)(struct rt_net *net, int socket, uint64_t token, uint32_t *ret_object);
    void (*unwatch)(struct rt_net *net, int socket);
    /* Takes at most `max` (> 0) events; never blocks. 0 is possible: interrupted (E6), or gone. */
    uint32_t (*fetch)(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max);
    /* Makes `pollable` one of the host that the runtime sleeps in: ready while fetch has events.
     * RT_E_FULL. */
    rt_err (*subscribe)(struct rt_net *net, struct rt_pollable *pollable);
};

/* Embedded first in a network's own struct. */
struct rt_net {
    uint32_t magic; /* RT_NET_MAGIC */
    const struct rt_net_ops *ops;
    /* A read that moves less than it was asked for has left nothing, and what comes after it is
     * another event, as with epoll(7): the read that would only find that out is spared. */
    bool short_reads_empty;
};

#define RT_NET_MAGIC 0x524e4554u

/* The calls whose results can be wrong, with the contract checked on both sides: a network that
 * breaks it is a panic. Signatures and meaning as in rt_net_ops; rt_net_write is a
 * write of one part. The others are called through `ops`. */
RT_MUST_CHECK rt_err rt_net_read(struct rt_net *net, int socket, void *buffer, size_t size,
        size_t *ret_size, const struct rt_site *await);
RT_MUST_CHECK rt_err rt_net_write(struct rt_net *net, int socket, const void *buffer, size_t size,
        size_t *ret_size, const struct rt_site *await);
RT_MUST_CHECK rt_err rt_net_writev(struct rt_net *net, int socket, const struct rt_net_part *parts,
        uint32_t count, size_t *ret_size, const struct rt_site *await);
uint32_t rt_net_fetch(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max);

#ifdef __cplusplus
}
#endif
#endif
