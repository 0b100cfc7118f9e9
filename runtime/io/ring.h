/*
 * ring.h -- the driver of operations on a completion host.
 *
 *      rt_op ──▶ queued ──▶ place ──▶ unsent ──▶ host ──▶ completion ──▶ place ──▶ rt_op, waker
 *              (no place)            (queue full)
 *
 * What the host may still write to must outlive the task that asked for it. So an
 * operation has two halves: the *handle* (rt_op, op.h) in the memory of a task, which may
 * go at any time, and the *place* here, in memory provided for the life of the ring,
 * which stays until the host is done (U2). The host knows the place by index and
 * generation, so that a completion never reaches the next owner of a place (U8).
 *
 * A place is free again when the final completion has arrived, the handle has taken it
 * or is gone, and a cancel that was sent has been answered as well (U3): its
 * completion carries the same index and generation, with a mark.
 *
 * Order. Operations without a place are queued, and so are places when the submission
 * queue is full; both queues are first come, first served (U7).
 *
 * The ring waits for its host through the reactor, with its own waker that reaps
 * (rt_ring_turn), while the host has any of its operations. It needs no task, so it
 * cannot be cancelled.
 *
 * Ownership. The ring borrows host, runtime and arrays for its life, is pinned, and must
 * outlive its operations. Nothing here allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_RING_H
#define RT_IO_RING_H

#include "runtime/io/completion.h"
#include "runtime/io/reactor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_op;
struct rt_runtime;

/*
 * Called once for each completion that no handle takes any more, with `result` as in struct
 * rt_completion. `more`: another call follows. Without it the buffer is the caller's again, and the
 * ring has dropped the operation. It may start and drop operations.
 */
typedef void (*rt_op_release_fn)(void *argument, int32_t result, bool more);

/* A result that waits for its handle; only operations with `multi` need those. */
struct rt_ring_result {
    struct rt_list link; /* In a place's `results` or in the ring's `free_results`. */
    int32_t result;
};

enum rt_ring_cancel { RT_RING_CANCEL_NONE, RT_RING_CANCEL_WANTED, RT_RING_CANCEL_SENT };

/* One operation that the host knows of, or is about to. */
struct rt_ring_place {
    struct rt_list link; /* In `free`, or in `unsent` while something of it is to be pushed. */
    struct rt_key key;   /* Its name; the host knows it by this. */
    struct rt_op *op;    /* NULL: no task waits any more, IGNORED (U2). */
    uint32_t object;     /* For traces: of the operation. */
    struct rt_submission submission;
    rt_op_release_fn release;
    void *argument;
    struct rt_list results;     /* Oldest first; `final` follows them. */
    int32_t final;              /* Valid when `finished`. */
    bool sent;                  /* The host has it. */
    bool finished;              /* The final completion has arrived. */
    enum rt_ring_cancel cancel; /* SENT: the answer is outstanding. */
};

struct rt_ring_config {
    struct rt_completion_host *host;
    struct rt_runtime *runtime;     /* NULL: the caller calls rt_ring_turn. */
    struct rt_ring_place *places;   /* `capacity` */
    struct rt_slab_entry *entries;  /* `capacity` */
    uint32_t capacity;              /* Operations at a time, > 0. */
    struct rt_ring_result *results; /* `result_count`; may be NULL when that is 0. */
    uint32_t result_count;          /* For operations with `multi`: not yet taken, of all. */
};

struct rt_ring {
    struct rt_object object;
    struct rt_completion_host *host;
    struct rt_runtime *runtime;
    struct rt_slab slab;
    struct rt_list free;         /* Places. */
    struct rt_list unsent;       /* Places with something to push, in the order of asking. */
    struct rt_list queued;       /* Handles that wait for a place. */
    struct rt_list free_results; /* Struct rt_ring_result. */
    struct rt_completion held;   /* Reaped, and no space for its result yet … */
    bool holding;                /* … nothing more is reaped meanwhile. */
    bool turning;                /* Inside rt_ring_turn. */
    bool pushed;                 /* The submission queue is not empty. */
    uint32_t outstanding;        /* Final completions, and answers to cancels, still to come. */
    struct rt_pollable pollable; /* "There are completions." */
    struct rt_wait wait;         /* For it, while the host has an operation of ours. */
    struct rt_task watcher;      /* Never posted: the task for which the wait is stored. */
};

/* Makes a ring; `config` is copied. RT_E_FULL: the host has no capacity for the pollable. */
RT_MUST_CHECK rt_err rt_ring_init(struct rt_ring *ring, const struct rt_ring_config *config);

/* Ends it. Operations that the host still has, or that are queued: fault RT_E_IN_USE, for their
 * buffers are the host's (U1). */
void rt_ring_fini(struct rt_ring *ring);

/*
 * Reaps what has been completed, wakes its waiters, pushes what is unsent, enters the host,
 * and waits for the rest through the reactor (U7). Called by the reactor's wake and by every poll
 * of an operation; by hand only where the ring has no runtime. From inside itself: no-op.
 */
#define rt_ring_turn(ring) rt_ring_turn_at((ring), RT_HERE)
void rt_ring_turn_at(struct rt_ring *ring, const struct rt_site *await);

/* Places in use: operations not finished, or not taken, or with a cancel that was not answered. */
uint32_t rt_ring_used(const struct rt_ring *ring);

/* NULL, or what is wrong, one sentence. The rewake oracle's third stage calls it. */
const char *rt_ring_audit(const struct rt_ring *ring);

#ifdef __cplusplus
}
#endif
#endif
