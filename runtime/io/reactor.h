/*
 * reactor.h -- which tasks to wake when a pollable is ready.
 *
 *      task ── rt_wait_for(wait, cx) ──▶ wait ──▶ pollable
 *      turn:  list of waited-for pollables ──▶ host.poll ──▶ wake the waits of the ready ones
 *
 * A wait is one task's interest in one pollable; a pollable may have many waits,
 * and each is woken (R2). A wait is *pending* from the poll that found its pollable
 * not ready until it is woken; then it stays registered, not pending, until that
 * poll is repeated or the wait is cancelled. Only pollables with a pending wait are
 * given to the host (R4), or a level-triggered one would be reported again and again
 * before its task had its turn. The end of the task empties the slot, so that the
 * wait of a task that is gone is not pending either.
 *
 *      waits    w1 w4 | w2 | w3 w5        waits of one pollable are adjacent
 *      list     p1      p2   p3           each with a pending wait, in that order
 *
 * Order. The list is in the order in which pollables were first waited for, and
 * wakes go in that order; the waits of one pollable in the order of registration (R7).
 *
 * Ownership. A wait is the caller's, and pinned while it is registered; so is its
 * pollable. rt_wait_cancel must come before either is freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_REACTOR_H
#define RT_IO_REACTOR_H

#include "runtime/io/poller.h"
#include "runtime/task/cx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_reactor;

struct rt_wait {
    struct rt_list link; /* In reactor->waits, after the other waits of its pollable. */
    struct rt_slot slot; /* Full while the wait is pending. */
    struct rt_pollable *pollable;
    struct rt_reactor *reactor; /* NULL while not registered. */
    struct rt_key key;          /* Of the pollable in the poller; shared by its waits. */
    bool marked;                /* During a turn: its pollable was reported. */
};

struct rt_reactor {
    uint32_t magic;
    uint32_t waiting; /* Registered waits. */
    struct rt_poller poller;
    struct rt_list waits;
    struct rt_key *keys;        /* `capacity`: the answer of a turn. */
    bool turning;               /* Inside a turn, the host's poll included. */
    struct rt_list *waking;     /* While a turn wakes: the link to process next. NULL otherwise. */
    struct rt_pollable at_once; /* Always ready, so that a poll does not block (R6). */
};

struct rt_reactor_config {
    struct rt_poller_config poller;
    struct rt_key *keys; /* poller.capacity of them. */
};

enum rt_turn_mode {
    RT_TURN_POLL, /* Ask what is ready, do not block (R6). */
    RT_TURN_BLOCK /* Block until a pollable is ready. */
};

void rt_reactor_init(
        struct rt_reactor *reactor, struct rt_host *host, const struct rt_reactor_config *config);

/* Ends it. Waits still registered: fault RT_E_IN_USE. */
void rt_reactor_fini(struct rt_reactor *reactor);

/* Prepares a wait. */
void rt_wait_init(struct rt_wait *wait);

/*
 * READY when `pollable` is, and then nothing is registered (R1, R3). Otherwise registers `wait`, or
 * renews it with the waker of `cx` (R2, W11), and answers PENDING. A wait belongs to one pollable
 * at a time: waiting for another first cancels the old one. Fault RT_E_FULL when the reactor is;
 * fault RT_E_INVALID for a bare executor, which has none.
 */
#define rt_wait_for(wait, pollable, cx) rt_wait_for_at((wait), (pollable), (cx), RT_HERE)
rt_poll rt_wait_for_at(struct rt_wait *wait, struct rt_pollable *pollable, struct rt_cx *cx,
        const struct rt_site *await);

/* Cancels it: not in the next list, not woken (R3). Not registered: no-op. */
#define rt_wait_cancel(wait) rt_wait_cancel_at((wait), RT_HERE)
void rt_wait_cancel_at(struct rt_wait *wait, const struct rt_site *await);

/*
 * One turn: builds the list from the waits and `extra` (borrowed; entries of the runtime itself, at
 * most RT_POLLER_EXTRA - 1), asks the host, wakes. *ret_woken is how many waits were woken.
 *
 * RT_TURN_POLL without a wait does not call the host (R6). RT_TURN_BLOCK with an empty list is
 * RT_E_DEADLOCK, without a call (R5). A wait cancelled by an earlier wake of the same turn is
 * skipped (R9); wakers may wait and cancel here (R8), but not turn: RT_E_REENTERED. RT_E_FULL when
 * the host has no capacity for the pollable that keeps a poll from blocking.
 */
#define rt_reactor_turn(reactor, mode, extra, extra_count, ret_woken) \
    rt_reactor_turn_at((reactor), (mode), (extra), (extra_count), (ret_woken), RT_HERE)
RT_MUST_CHECK rt_err rt_reactor_turn_at(struct rt_reactor *reactor, enum rt_turn_mode mode,
        struct rt_pollable *const *extra, uint32_t extra_count, uint32_t *ret_woken,
        const struct rt_site *await);

/* How many waits are registered, pending or not. */
uint32_t rt_reactor_waiting(const struct rt_reactor *reactor);

/* True when a turn now would wake a task: a pollable with a pending wait is ready. Queries the host
 * about each, until one is. */
bool rt_reactor_ready(const struct rt_reactor *reactor);

/* Walks everything; panics when the reactor contradicts itself. */
void rt_reactor_audit(const struct rt_reactor *reactor);

#ifdef __cplusplus
}
#endif
#endif
