/*
 * epoll.h -- a host and its network over Linux: one epoll descriptor, one eventfd, one thread.
 *
 *      rt_host  now, subscribe, poll, notify        the seam of io/host.h
 *      rt_net   listen … write, watch, fetch        the seam of io/net.h
 *
 * Both are faces of one `struct rt_epoll`, and one epoll_wait a turn serves both: `poll` sleeps in
 * it and keeps the sockets' events, `fetch` hands them out without a further call. A socket is
 * registered once, for both directions, edge-triggered; nothing is registered again.
 *
 * Pollables of a host:
 *
 *      deadline      no system call: the timeout of epoll_wait, rounded up, never early
 *      notify        the eventfd; many notifications before a report are one write
 *      fetchable     the network's: there are events to fetch
 *      descriptor    anything that epoll takes: pipe, signalfd, pidfd (rt_epoll_subscribe); level-
 *                    triggered as io/host.h wants it, registered with EPOLLONESHOT and armed again
 *                    by the first sleep that lists it after a report
 *
 * Files are always "ready" and then block: RT_E_INVALID; they belong to a blocking pool
 * (shard/blocking.h, worker_thread.h).
 *
 * Threads. Everything belongs to one thread, but rt_host_notify, which may be called from any and
 * from a signal handler.
 *
 * Ownership. rt_epoll_init allocates (one batch of events, one table of pollables), rt_epoll_fini
 * frees. Descriptors that are subscribed stay the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_EPOLL_H
#define RT_HOST_EPOLL_H

#include "runtime/host/linux.h"

#ifdef __cplusplus
extern "C" {
#endif

struct epoll_event;

struct rt_epoll_config {
    uint32_t batch;       /* Events of one epoll_wait; 0: RT_EPOLL_BATCH. */
    uint32_t descriptors; /* Pollables of rt_epoll_subscribe at a time; 0: RT_EPOLL_DESCRIPTORS. */
    bool shared_ports;    /* Listeners have SO_REUSEPORT: one for each shard. */
};

#define RT_EPOLL_BATCH 256u
#define RT_EPOLL_DESCRIPTORS 64u

struct rt_epoll {
    int epoll;
    bool looked;               /* epoll_wait was called since the last fetch. */
    struct epoll_event *batch; /* Of sockets, [taken .. filled-1] not fetched yet. */
    uint32_t batch_max;
    uint32_t taken;
    uint32_t filled;
    uint64_t waits;       /* Calls of epoll_wait so far. */
    struct rt_linux base; /* base.host, base.net: its two seams. */
};

/* Makes one. `config` NULL: all zero. RT_E_NO_DESCRIPTOR, RT_E_FULL (no memory), RT_E_SYSTEM:
 * base.failure says more, and nothing is left to end. */
RT_MUST_CHECK rt_err rt_epoll_init(struct rt_epoll *epoll, const struct rt_epoll_config *config);

/* Ends it. Pollables of descriptors still subscribed: fault RT_E_IN_USE. */
void rt_epoll_fini(struct rt_epoll *epoll);

extern const struct rt_linux_kind rt_epoll_kind;

/*
 * Makes `pollable` ready while `descriptor` (borrowed until the drop) is readable, or writable, or
 * either. Several may have one descriptor. RT_E_INVALID: epoll does not take it: a file, or none.
 * RT_E_FULL: as many as were configured. RT_E_NO_DESCRIPTOR.
 */
RT_MUST_CHECK rt_err rt_epoll_subscribe(
        struct rt_epoll *epoll, int descriptor, uint32_t what, struct rt_pollable *pollable);

#ifdef __cplusplus
}
#endif
#endif
