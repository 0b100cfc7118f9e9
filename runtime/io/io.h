/*
 * io.h -- sockets that tasks wait for: registration, readiness, and the turn that wakes.
 *
 *      task ── rt_io_poll_ready(source, direction, wait, cx) ──▶ wait ──▶ source
 *      turn:  net.fetch ──▶ (token, events) ──▶ source by key ──▶ readiness, waits ──▶ wakes
 *
 * The reactor of the thread-per-core article (S3). There are two reactors: reactor.h
 * waits for pollables, which are level-triggered and polled again each time; here a network reports
 * edges, once, so each source records what was reported (readiness.h). All of it is one pollable
 * of the runtime's sleep, as an epoll descriptor would be one entry of a poll.
 *
 * The loop of every operation (E4; tcp.c is built on it):
 *
 *      for (;;) {
 *          RT_AWAIT(rt_io_poll_ready(source, direction, wait, cx, "some bytes", &seen));
 *          err = the operation;                    something moved, however little: done
 *          if (err != RT_E_AGAIN) { return RT_READY; }
 *          rt_io_clear(source, direction, seen);   and then register, and check once more
 *      }
 *
 * Waiters. A direction has a list of waits; an event wakes all of it, in the order of registration,
 * and a task that finds nothing left registers again (E5). A wait is *pending* while its slot is
 * full. The pollable is in the runtime's list only while a wait is pending, as in reactor.h (R4),
 * or a program without any possible wake would sleep in the host forever (D5).
 *
 *      source ── waits ──▶ w1 (read) ──▶ w2 (write) ──▶ w4 (read)      all are also in io->waits
 *
 * Names. The network knows a source by its token, which is a generational key: an event about a
 * source that was deregistered after the fetch finds no source (E7).
 *
 * Ownership. A source is the caller's, pinned from register to deregister. A wait is the caller's,
 * pinned until it was READY or cancelled; rt_io_wait_cancel must come before it is freed, also when
 * its task has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_IO_H
#define RT_IO_IO_H

#include "runtime/base/slab.h"
#include "runtime/io/net.h"
#include "runtime/io/readiness.h"
#include "runtime/task/cx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_io;

struct rt_io_source {
    struct rt_object object; /* object.id: by which the network knows it in traces. */
    struct rt_io *io;        /* NULL: not registered. */
    struct rt_key key;
    int socket;
    struct rt_readiness readiness[RT_DIRECTIONS];
    struct rt_list waits; /* Of both directions: a connection seldom has more than one. */
};

struct rt_io_wait {
    struct rt_list link;         /* In source->waits. */
    struct rt_list all;          /* In io->waits. */
    struct rt_slot slot;         /* Full while the wait is pending. */
    struct rt_io_source *source; /* NULL while not registered. */
    enum rt_direction direction;
};

struct rt_io_config {
    struct rt_net *net;            /* Borrowed; NULL: there is no network, and capacity is 0. */
    struct rt_slab_entry *entries; /* `capacity` of them. */
    uint32_t capacity;             /* Sources at a time. */
    struct rt_net_event *events;   /* For one batch … */
    uint32_t events_max;           /* … of so many: what a turn takes at most (D11). */
};

struct rt_io {
    uint32_t magic;
    bool turning;
    bool shut_down; /* E10 */
    struct rt_net *net;
    struct rt_slab sources;
    struct rt_list waits;
    struct rt_net_event *events;
    uint32_t events_max;
    struct rt_pollable fetchable; /* Ready while the network has events to fetch. */
    uint64_t stale;               /* Events so far about sources that were gone. */
};

void rt_io_init(struct rt_io *io, const struct rt_io_config *config);

/* Ends it. Sources still registered: fault RT_E_IN_USE. */
void rt_io_fini(struct rt_io *io);

/* Prepares a source and a wait. A source that is not registered is ready with SHUTDOWN. */
void rt_io_source_init(struct rt_io_source *source);
void rt_io_wait_init(struct rt_io_wait *wait);

/*
 * Registers `source` for `socket`, for both directions. `assumed` (RT_NET_READABLE,
 * RT_NET_WRITABLE, both, 0) counts as an event: the first operation is then tried without one.
 * RT_E_BUSY: it is registered. RT_E_FULL: `capacity` are, or the network is full.
 * RT_E_SHUTDOWN after rt_io_shutdown. Nothing has changed in these cases.
 */
RT_MUST_CHECK rt_err rt_io_register(
        struct rt_io *io, struct rt_io_source *source, int socket, uint32_t assumed);

/* Deregisters it; not registered: no-op. Its waiters are woken and find SHUTDOWN. Must come
 * before the socket is closed (E7). */
#define rt_io_deregister(source) rt_io_deregister_at((source), RT_HERE)
void rt_io_deregister_at(struct rt_io_source *source, const struct rt_site *await);

/* True when one more source can be registered. */
bool rt_io_has_room(const struct rt_io *io);

/*
 * READY when an operation of `direction` is worth a try: *ret_seen is what is known, and nothing is
 * registered. Otherwise registers `wait`, or renews it with the waker of `cx` (W11), and answers
 * PENDING; several tasks may wait for one direction, each with a separate wait (E5). `reason` is
 * borrowed: what reports print as the task's wait reason.
 */
#define rt_io_poll_ready(source, direction, wait, cx, reason, ret_seen) \
    rt_io_poll_ready_at((source), (direction), (wait), (cx), (reason), (ret_seen), RT_HERE)
rt_poll rt_io_poll_ready_at(struct rt_io_source *source, enum rt_direction direction,
        struct rt_io_wait *wait, struct rt_cx *cx, const char *reason, struct rt_seen *ret_seen,
        const struct rt_site *await);

/* An operation of `direction` that was tried after `seen` answered RT_E_AGAIN (E1). No other
 * answer clears. */
void rt_io_clear(struct rt_io_source *source, enum rt_direction direction, struct rt_seen seen);

/* Cancels a wait; not registered: no-op. */
#define rt_io_wait_cancel(wait) rt_io_wait_cancel_at((wait), RT_HERE)
void rt_io_wait_cancel_at(struct rt_io_wait *wait, const struct rt_site *await);

/*
 * Fetches one batch of events and wakes the waits they concern. *ret_woken: how many waits. Never
 * blocks. RT_E_REENTERED from inside a turn; RT_E_FULL when the host is full, for the pollable.
 * Without a network: nothing, RT_OK. For rt_runtime_turn, and for callers' own loops.
 */
#define rt_io_turn(io, ret_woken) rt_io_turn_at((io), (ret_woken), RT_HERE)
RT_MUST_CHECK rt_err rt_io_turn_at(
        struct rt_io *io, uint32_t *ret_woken, const struct rt_site *await);

/* True when a task waits. */
bool rt_io_waited_for(const struct rt_io *io);

/* The entry for the list of a loop that is about to sleep: *ret_pollable, borrowed, or NULL while
 * no task waits (R4, D5). RT_E_FULL when the host has no capacity for it. */
RT_MUST_CHECK rt_err rt_io_pollable(struct rt_io *io, struct rt_pollable **ret_pollable);

/* True when a task waits and a turn would fetch something. */
bool rt_io_useful(const struct rt_io *io);

/* Nothing is reported any more: each source has the bit SHUTDOWN forever, all waiters are woken,
 * and no new source is registered (E10). Sources stay registered; they can still be closed. */
#define rt_io_shutdown(io) rt_io_shutdown_at((io), RT_HERE)
void rt_io_shutdown_at(struct rt_io *io, const struct rt_site *await);

/* The audit of a source (the object is its own): NULL, or what is wrong. */
const char *rt_io_source_audit(const struct rt_object *object);

#ifdef __cplusplus
}
#endif
#endif
