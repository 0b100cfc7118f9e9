/*
 * uring.h -- a host and its network over io_uring: one ring, one eventfd, one thread.
 *
 *      rt_host  now, subscribe, poll, notify        the seam of io/host.h
 *      rt_net   listen … write, watch, fetch        the seam of io/net.h
 *
 * The same two faces as epoll.h, and a program built on the seams does not know which it has. But
 * here the kernel does the work: it accepts (multishot), and receives into buffers that it picks
 * from a shared ring (multishot); a write is copied into a buffer of the host and sent from there.
 * So `accept`, `read` and `write` are copies without a system call, and one io_uring_enter a turn
 * submits everything and waits.
 *
 *      kernel ──▶ completions ──▶ buffers of a socket ──▶ read        RT_E_AGAIN: none has come
 *      write ──▶ a buffer ──▶ submission ──▶ kernel                   RT_E_AGAIN: one is under way
 *
 * Cancellation. All buffers are the host's until the kernel is done with them, whatever tasks and
 * sockets do meanwhile (U1, U2). A socket that is closed while a send is under way is closed for
 * its owner at once; what was written is still sent, for RT_URING_LINGER_S at most.
 *
 * Buffers. A socket holds at most RT_URING_HELD of the shared ones; then receiving stops until it
 * is read, and the peer waits. When none is left at all, sockets are read by plain recv(2).
 *
 * Errors. What goes wrong with a send is the answer of the next write, or read, on that socket.
 *
 * Kernels. rt_uring_init answers RT_E_SYSTEM or RT_E_INVALID, with the reason in `failure`, where
 * the kernel has no io_uring, forbids it (sysctl kernel.io_uring_disabled, seccomp: containers
 * often do), or is older than 6.1. Fall back to epoll.h then.
 *
 * Threads, ownership: as epoll.h. The thread that waits first is the ring's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_URING_H
#define RT_HOST_URING_H

#include "runtime/host/linux.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_uring_kernel;
struct rt_uring_socket;
struct rt_uring_send;

#define RT_URING_ENTRIES 1024u /* Submissions a turn without an extra system call. */
#define RT_URING_BUFFERS 1024u /* Shared, for receiving: a power of two … */
#define RT_URING_BUFFER 2048u  /* … of so many bytes. */
#define RT_URING_HELD 16u      /* Of one socket. */
#define RT_URING_SEND 4096u    /* The longest write. */
#define RT_URING_LINGER_S 10   /* For what a closed socket has still to send. */
#define RT_URING_DESCRIPTORS 64u

struct rt_uring_config {
    uint32_t descriptors; /* Pollables of rt_uring_subscribe at a time; 0: RT_URING_DESCRIPTORS. */
    bool shared_ports;    /* Listeners have SO_REUSEPORT: one for each shard. */
};

struct rt_uring {
    struct rt_uring_kernel *kernel;  /* What liburing knows. */
    bool enabled;                    /* A thread has waited: the ring is its own. */
    bool looked;                     /* Completions were taken since the last fetch. */
    struct rt_uring_socket *sockets; /* By descriptor. */
    uint32_t socket_count;
    int ready_first; /* Sockets with events, oldest first; -1: none. */
    int ready_last;
    struct rt_uring_send **sends; /* By number; grows. */
    uint32_t send_count;
    uint32_t free_send;     /* Number plus 1; 0: none. */
    uint32_t sends_started; /* Not completed yet. */
    uint64_t enters;        /* System calls to wait or submit so far. */
    struct rt_linux base;   /* base.host, base.net: its two seams. */
};

/* Makes one. `config` NULL: all zero. RT_E_SYSTEM, RT_E_INVALID (above), RT_E_NO_DESCRIPTOR,
 * RT_E_FULL (no memory; or RLIMIT_MEMLOCK): base.failure says more, nothing is left. */
RT_MUST_CHECK rt_err rt_uring_init(struct rt_uring *uring, const struct rt_uring_config *config);

/* Ends it; sends under way are cancelled. Pollables still subscribed: fault RT_E_IN_USE. */
void rt_uring_fini(struct rt_uring *uring);

extern const struct rt_linux_kind rt_uring_kind;

/* As rt_epoll_subscribe: `what` is RT_DESCRIPTOR_READABLE, RT_DESCRIPTOR_WRITABLE or both. */
RT_MUST_CHECK rt_err rt_uring_subscribe(
        struct rt_uring *uring, int descriptor, uint32_t what, struct rt_pollable *pollable);

#ifdef __cplusplus
}
#endif
#endif
