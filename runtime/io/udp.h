/*
 * udp.h -- datagrams, polled like futures.
 *
 *      rt_udp_bind ─▶ rt_udp_send_to, rt_udp_receive_from ─▶ rt_udp_close
 *               └─▶ rt_udp_connect: one peer only; its errors are reported
 *
 * Each polled call is the loop of io.h (N1): PENDING with its task registered in `wait`, or READY.
 * A call that answers PENDING has sent and taken nothing: it may be dropped by rt_io_wait_cancel.
 *
 * What a network may do to a datagram (N9): lose it, deliver it twice, or after later ones. What
 * arrives is one whole datagram, never a part or a mixture; where the buffer is smaller, the rest
 * is gone, and `full_size` says so.
 *
 * Ownership. The socket is the caller's, pinned from bind to close. Buffers are borrowed for the
 * call only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_UDP_H
#define RT_IO_UDP_H

#include "runtime/io/io.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_udp {
    struct rt_io_source source;
    bool open;
    bool connected;
    struct rt_net_address local; /* With its port. */
};

/* The result of a receive. */
struct rt_udp_received {
    rt_err err;
    struct rt_net_datagram datagram; /* Where err is RT_OK; else all zero. */
};

/* Prepares one that is closed. Of one that is not: not detected. */
void rt_udp_init(struct rt_udp *udp);

/* Opens it at `address`; port 0: a free one, in `local`. RT_E_BUSY: it is open. RT_E_FULL,
 * RT_E_ADDRESS_IN_USE, RT_E_NO_DESCRIPTOR, RT_E_INVALID (not an address of this machine, in the
 * simulator), RT_E_SYSTEM, RT_E_SHUTDOWN: it is still closed. */
RT_MUST_CHECK rt_err rt_udp_bind(
        struct rt_udp *udp, struct rt_io *io, const struct rt_net_address *address);

/* From now on it receives from `peer` only, and sends there where no address is given. May be
 * called again. RT_E_STALE: it is closed. RT_E_SYSTEM: no way there. */
RT_MUST_CHECK rt_err rt_udp_connect(struct rt_udp *udp, const struct rt_net_address *peer);

/* READY with RT_OK once the datagram is sent; that it arrives is not promised. `to` NULL: to the
 * peer of rt_udp_connect (RT_E_INVALID: there is none). `size` may be 0. RT_E_INVALID: it is longer
 * than the network takes (65,507 bytes of IPv4). RT_E_REFUSED: of a connected one, an earlier
 * datagram has found no socket. RT_E_STALE: it is closed. RT_E_SHUTDOWN. */
#define rt_udp_send_to(udp, wait, cx, to, bytes, size, ret_err) \
    rt_udp_send_to_at((udp), (wait), (cx), (to), (bytes), (size), (ret_err), RT_HERE)
rt_poll rt_udp_send_to_at(struct rt_udp *udp, struct rt_io_wait *wait, struct rt_cx *cx,
        const struct rt_net_address *to, const void *bytes, size_t size, rt_err *ret_err,
        const struct rt_site *await);

/* READY with one datagram, or an error: RT_E_REFUSED as above, RT_E_STALE, RT_E_SHUTDOWN. `size`
 * (> 0): of a longer datagram the rest is lost. */
#define rt_udp_receive_from(udp, wait, cx, buffer, size, ret_received) \
    rt_udp_receive_from_at((udp), (wait), (cx), (buffer), (size), (ret_received), RT_HERE)
rt_poll rt_udp_receive_from_at(struct rt_udp *udp, struct rt_io_wait *wait, struct rt_cx *cx,
        void *buffer, size_t size, struct rt_udp_received *ret_received,
        const struct rt_site *await);

/* Closes it; its waiters are woken and get RT_E_STALE. Closed: no-op. */
#define rt_udp_close(udp) rt_udp_close_at((udp), RT_HERE)
void rt_udp_close_at(struct rt_udp *udp, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
