/*
 * shard.h -- a runtime per core, and messages between them.
 *
 *      shard 0 ┌─────────┐   lane 0→1    ┌─────────┐ shard 1
 *              │ runtime │ ────────────▶ │ runtime │
 *              │         │ ◀──────────── │         │ ◀──── aliens: threads that are no shard
 *              └─────────┘   lane 1→0    └─────────┘ ◀──── wakes from anywhere
 *
 * A task runs, and is destroyed, on its shard only (X1). Nothing is shared but the lanes; a shard
 * sends requests to another as messages (message.h), and wakes or cancels a task there through
 * its name (remote.h).
 *
 * One turn of a shard's loop:
 *   1. Take in: wakes, aliens' messages, one batch from each lane.
 *   2. Poll woken tasks, at most `event_interval` of them.
 *   3. Send: one batch from each queue into its lane, then notify the receiver.
 *   4. Close, when that was requested.
 *   5. Something to do: poll the host. Nothing: sleep, see below.
 *
 * Sleeping (X4). A shard that goes to sleep and one that sends work must not miss each other: the
 * waiter must not check first and announce its sleep then (heph#437, ponyc#2561), nor may its store
 * and its check, or the sender's message and check, be reordered in memory (seastar 788c46c). Here
 * both sides do a read-modify-write of one word, `asleep`:
 *
 *      waiter   exchange(asleep, true)  ; check everything once more ; block in the host
 *      sender    publish the message     ; exchange(asleep, false) ; it was true: notify the host
 *
 * Of two read-modify-writes of one word one comes second and sees what was done before the first.
 * The sender's is second: it reads true and notifies. The waiter's is: its second check finds
 * the message. A load of the word alone, without the exchange, would need a fence on both
 * sides.
 *
 * Shutdown (X7), in this order:
 *   1. rt_shards_close, from anywhere. Every shard that sees it refuses to send; its aliens are
 *      refused from then on, and those that came before are served.
 *   2. Messages under way continue: they arrive, are answered, return. A shard all of whose own
 *      messages have returned, and which holds none of an alien, is *drained*, and continues to
 *      serve.
 *   3. When the last one is drained nothing is under way, and no shard can send. Each shard cancels
 *      its own tasks that are left, on its own thread (X1), and its loop returns.
 *   4. When all loops have returned and no alien is inside a call, each shard may be ended, in any
 *      order. Not before: a sender may still be about to notify a host.
 * A message that is never answered blocks the shutdown; that is reported as a deadlock, not lost.
 *
 * Ownership. Borrows everything that its configurations point at, from init to fini.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_SHARD_H
#define RT_SHARD_SHARD_H

#include "runtime/base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/shard/lane.h"
#include "runtime/shard/message.h"
#include "runtime/shard/remote.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_SHARD_BATCH 16u        /* Seastar's: messages moved at a time, a lane. */
#define RT_SHARD_LANE 128u        /* Seastar's: the usual capacity of a lane. */
#define RT_SHARD_ALIENS_MAX 1024u /* Of waiting aliens, where the configuration says 0. */

struct rt_shard;

/* From one shard to one other, or to itself. */
struct rt_pipe {
    struct rt_lane lane;
    struct rt_list waiting;  /* The sender's queue: not in the lane yet, oldest first (X3). */
    bool unnotified;         /* The sender's: published, the receiver not yet notified. */
    RT_ATOMIC(bool) starved; /* The sender waits for capacity: notify it when there is some. */
};

struct rt_shards {
    uint32_t magic;
    uint32_t count;
    struct rt_shard **members; /* By number; NULL before rt_shard_init. */
    struct rt_pipe *pipes;     /* From f to t: number f * count + t. */
    RT_ATOMIC(bool) closing;
    RT_ATOMIC(unsigned) undrained; /* Shards that are not drained yet. */
};

struct rt_shards_config {
    uint32_t count;             /* At least 1. */
    struct rt_shard **members;  /* `count` */
    struct rt_pipe *pipes;      /* `count` * `count` */
    struct rt_message **places; /* `count` * `count` * `lane_capacity` */
    uint32_t lane_capacity;     /* A power of two. */
};

struct rt_shard_config {
    struct rt_runtime *runtime;   /* Made, with nothing posted; only the shard may run it. */
    struct rt_remote_cell *cells; /* As many as the executor has entries. */
    uint32_t aliens_max;          /* Aliens that may wait at a time; 0: RT_SHARD_ALIENS_MAX. */
    /* Whether the caller is on the thread of this shard (W4). NULL: not checked. */
    bool (*here)(void *argument);
    /* Called by the loop between any two accesses to memory that other threads see. The simulator
     * lets others run there; NULL in production. */
    void (*between)(void *argument);
    void *argument;
};

struct rt_shard {
    struct rt_object object;
    uint32_t number;
    struct rt_shards *shards;
    struct rt_runtime *runtime;
    bool in_loop;
    bool closed;        /* Has seen the shutdown: sends nothing more. */
    bool drained;       /* Shutdown, step 2. */
    uint32_t under_way; /* Own messages that have not returned yet. */
    uint32_t in_hand;   /* Aliens' messages that have arrived and are not answered. */
    void (*between)(void *argument);
    void *argument;
    struct rt_remote_cell *cells;
    struct rt_waker_vt remote_vt; /* Of its remote wakers; its address identifies the shard. */
    char before_shared[RT_CACHE_LINE];
    RT_ATOMIC(bool) asleep;
    struct rt_inbox wakes; /* Cells. */
    struct rt_inbox aliens;
    RT_ATOMIC(unsigned) aliens_free;
};

/* Makes a set of `count` shards, none initialised yet. `config` is copied. */
void rt_shards_init(struct rt_shards *shards, const struct rt_shards_config *config);

/*
 * Makes the shard with number `number` of `shards`, before any loop runs. The runtime is the
 * shard's from now on: its executor checks `here`, and its host is held (rt_runtime_hold), whose
 * errors this answers.
 */
RT_MUST_CHECK rt_err rt_shard_init(struct rt_shard *shard, struct rt_shards *shards,
        uint32_t number, const struct rt_shard_config *config);

/* Ends it; see Shutdown, step 4. Messages under way: fault RT_E_IN_USE. */
void rt_shard_fini(struct rt_shard *shard);

/*
 * One turn. RT_TURN_BLOCK sleeps when there is nothing to do. *ret_over: the shutdown is complete,
 * and no turn may follow. RT_E_REENTERED from inside a poll or a turn; errors of rt_runtime_turn.
 */
RT_MUST_CHECK rt_err rt_shard_turn(struct rt_shard *shard, enum rt_turn_mode mode, bool *ret_over);

/* Turns until the shutdown is complete. Errors of rt_shard_turn. */
RT_MUST_CHECK rt_err rt_shard_run(struct rt_shard *shard);

/* Any thread: starts the shutdown of all shards. Again: no-op. */
void rt_shards_close(struct rt_shards *shards);

/* Walks everything; NULL, or what is wrong, one sentence. The caller has stopped all threads. */
const char *rt_shard_audit(const struct rt_object *object);

#ifdef __cplusplus
}
#endif
#endif
