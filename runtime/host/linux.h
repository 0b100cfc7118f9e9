/*
 * linux.h -- what the hosts over Linux share: pollables, and the wait for a list of them.
 *
 * A host over Linux has one queue of the kernel's (epoll, or a ring) and one eventfd, and is ready
 * for a list of pollables when
 *
 *      an instant      has passed on the monotonic clock
 *      a notification  came from any thread: a flag, and one write to the eventfd
 *      the network     has events that were not fetched
 *      a descriptor    was reported since it was last waited for
 *
 * epoll.c and uring.c add how to wait, and how a descriptor gets into the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_LINUX_H
#define RT_HOST_LINUX_H

#include "runtime/base/atomic.h"
#include "runtime/base/list.h"
#include "runtime/base/slab.h"
#include "runtime/host/socket.h"
#include "runtime/io/host.h"
#include "runtime/io/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a pollable of a descriptor waits for. Errors and hang-ups count for each (E3). */
#define RT_DESCRIPTOR_READABLE 1u
#define RT_DESCRIPTOR_WRITABLE 2u

/* As a time to wait: without limit. */
#define RT_LINUX_NEVER ((UINT64_C(1) << 62) - 1)

struct rt_linux;

/* A pollable of a descriptor. */
struct rt_linux_descriptor {
    struct rt_pollable *pollable;
    int descriptor;
    int registered; /* The number that the queue has: `descriptor`, or a duplicate that is ours. */
    uint32_t what;  /* POLLIN, POLLOUT: epoll has the same bits. */
    uint32_t generation;
    bool armed; /* The kernel waits for it. */
    bool found; /* Reported since it was armed. */
};

struct rt_linux_ops {
    /* Waits for at most `timeout_ns` (RT_LINUX_NEVER: without limit) and takes what has come; none
     * where it was interrupted (E6). */
    void (*wait)(struct rt_linux *host, uint64_t timeout_ns);
    /* Whether the network has something to be fetched. */
    bool (*has_events)(const struct rt_linux *host);
    /* Puts a descriptor into the queue; RT_E_INVALID: it cannot be waited for. */
    rt_err (*add)(struct rt_linux *host, struct rt_linux_descriptor *details);
    /* Has the kernel wait for one that is not armed. */
    void (*arm)(struct rt_linux *host, struct rt_linux_descriptor *details);
    void (*remove)(struct rt_linux *host, struct rt_linux_descriptor *details);
};

/* A host by its kind, for code that makes hosts and does not know them (cores.h): rt_epoll_kind,
 * rt_uring_kind. */
struct rt_linux_kind {
    /* Allocates and makes one; errors of rt_epoll_init, rt_uring_init: `failure` says more. */
    rt_err (*make)(bool shared_ports, struct rt_failure *failure, struct rt_linux **ret_host);
    /* Ends and frees it. */
    void (*end)(struct rt_linux *host);
};

/* Embedded last in a host's own struct: what other threads write lies at its end. */
struct rt_linux {
    struct rt_host host;
    struct rt_net net;
    const struct rt_linux_ops *ops;
    struct rt_failure failure; /* Of the last call that failed. */
    int eventfd;
    bool shared_ports;          /* Listeners have SO_REUSEPORT. */
    struct rt_slab descriptors; /* Of pollables; the index is what the queue knows them by. */
    struct rt_slab_entry *entries;
    struct rt_linux_descriptor *details; /* By index. */
    char before_shared[64];
    RT_ATOMIC(bool) notified; /* Written by any thread: since the last report. */
};

/* Makes the shared part, with capacity for `descriptors` pollables (> 0). RT_E_FULL (no memory),
 * RT_E_NO_DESCRIPTOR: rt_linux_release must be called all the same. */
RT_MUST_CHECK rt_err rt_linux_init(struct rt_linux *host, const struct rt_linux_ops *ops,
        const struct rt_net_ops *net, uint32_t descriptors);

/* Frees it, however far it was made. */
void rt_linux_release(struct rt_linux *host);

/* To be called first by the end of a host: fault RT_E_IN_USE while descriptors are subscribed. */
void rt_linux_check_unused(const struct rt_linux *host, const char *name);

/* rt_epoll_subscribe, rt_uring_subscribe: of either host. */
RT_MUST_CHECK rt_err rt_linux_subscribe(
        struct rt_linux *host, int descriptor, uint32_t what, struct rt_pollable *pollable);

/* `net`'s host. */
static inline struct rt_linux *
rt_linux_of_net(struct rt_net *net)
{
    return rt_container_of(net, struct rt_linux, net);
}

/* The calls of the network that are the same over every queue. */
rt_err rt_linux_listen_finish(struct rt_net *net, int socket);
rt_err rt_linux_net_subscribe(struct rt_net *net, struct rt_pollable *pollable);
void rt_linux_local_forget(struct rt_net *net, int socket);
rt_err rt_linux_udp_connect(struct rt_net *net, int socket, const struct rt_net_address *peer);
rt_err rt_linux_send_to(struct rt_net *net, int socket, const struct rt_net_address *to,
        const void *bytes, size_t size, const struct rt_site *await);
rt_err rt_linux_receive_from(struct rt_net *net, int socket, void *buffer, size_t size,
        struct rt_net_datagram *ret_datagram, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
