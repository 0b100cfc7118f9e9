/*
 * shard.h -- a runtime per core, and messages between them.
 *
 *      shard 0 ┌─────────┐   lane 0→1    ┌─────────┐ shard 1
 *              │ runtime │ ────────────▶ │ runtime │
 *              │         │ ◀──────────── │         │ ◀──── aliens: threads that are no shard
 *              └─────────┘   lane 1→0    └─────────┘ ◀──── wakes from anywhere
 *
 * A task runs, and is destroyed, on its shard only (X1). Nothing is shared but the lanes; what a
 * shard wants from another it asks for with a message (message.h), and what it wants to tell a task
 * there goes through its name (remote.h).
 *
 * One turn of a shard's loop:
 *   1. Take in: wakes, what aliens sent, one batch from each lane.
 *   2. Poll what is woken, at most `event_interval` tasks.
 *   3. Send: one batch from each waiting line into its lane, then tell the receiver.
 *   4. Closing, when somebody asked for it.
 *   5. Something to do: a look at the host. Nothing: sleep, see below.
 *
 * Sleeping (X4). Who goes to sleep and who brings work must not miss each other: the waiter must
 * not look first and say then that it sleeps (heph#437, ponyc#2561), nor may its word and its look,
 * or the other's message and look, change places on the way to memory (seastar 788c46c). Here both
 * sides do a read-modify-write of one word, `asleep`:
 *
 *      waiter   exchange(asleep, true)  ; look into everything once more ; block in the host
 *      sender    publish the message     ; exchange(asleep, false) ; it was true: notify the host
 *
 * Of two read-modify-writes of one word one comes after the other and sees what was done before it.
 * The sender's is the later one: it reads true and notifies. The waiter's is: its second look
 * finds the message. A look at the word alone, without the exchange, would need a fence on both
 * sides.
 *
 * Shutdown (X7), in this order:
 *   1. rt_shards_close, from anywhere. Every shard that hears of it refuses to send; its aliens are
 *      refused from the same moment on, and those that came before are served.
 *   2. What is under way goes on: it arrives, is answered, comes home. A shard all of whose own
 *      messages are home, and which has none of an alien in hand, is *drained*, and goes on to
 *      serve.
 *   3. When the last one is drained nothing is under way, and nobody can send. Each shard cancels
 *      its own tasks that are left, on its own thread (X1), and its loop returns.
 *   4. When all loops have returned and no alien is inside a call, each shard may be ended, in any
 *      order. Not before: a sender may still be about to notify a host.
 * A message that is never answered keeps the house open; that is seen as a deadlock, not lost.
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
    struct rt_list waiting;  /* The sender's: what has found no place yet, oldest first (X3). */
    bool untold;             /* The sender's: published, and the receiver is about to be told. */
    RT_ATOMIC(bool) starved; /* The sender waits for a place: tell it when there is one. */
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
    struct rt_runtime *runtime;   /* Made, with nothing posted; nobody else may run it. */
    struct rt_remote_cell *cells; /* As many as the executor has entries. */
    uint32_t aliens_max;          /* Aliens that may wait at a time; 0: RT_SHARD_ALIENS_MAX. */
    /* Whether the caller is on the thread of this shard (W4). NULL: nobody checks. */
    bool (*here)(void *argument);
    /* Called by the loop between any two accesses to what other threads see. The simulator lets
     * others run there; NULL in production. */
    void (*between)(void *argument);
    void *argument;
};

struct rt_shard {
    struct rt_object object;
    uint32_t number;
    struct rt_shards *shards;
    struct rt_runtime *runtime;
    bool in_loop;
    bool closed;        /* Has heard that the house closes: sends nothing more. */
    bool drained;       /* Shutdown, step 2. */
    uint32_t under_way; /* Own messages that are not home yet. */
    uint32_t in_hand;   /* Aliens' messages that have arrived and are not answered. */
    void (*between)(void *argument);
    void *argument;
    struct rt_remote_cell *cells;
    struct rt_waker_vt remote_vt; /* Of its remote wakers; its address says which shard. */
    char before_shared[RT_CACHE_LINE];
    RT_ATOMIC(bool) asleep;
    struct rt_inbox wakes; /* Cells. */
    struct rt_inbox aliens;
    RT_ATOMIC(unsigned) alien_room;
};

/* Makes a house of `count` shards without any in it. `config` is copied. */
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
 * One turn. RT_TURN_BLOCK sleeps when there is nothing to do. *ret_over: the shutdown is over, and
 * no turn may follow. RT_E_REENTERED from inside a poll or a turn; errors of rt_runtime_turn.
 */
RT_MUST_CHECK rt_err rt_shard_turn(struct rt_shard *shard, enum rt_turn_mode mode, bool *ret_over);

/* Turns until the shutdown is over. Errors of rt_shard_turn. */
RT_MUST_CHECK rt_err rt_shard_run(struct rt_shard *shard);

/* Any thread: closes the house. Again: no-op. */
void rt_shards_close(struct rt_shards *shards);

/* Walks everything; NULL, or what is wrong, one sentence. For who holds all threads still. */
const char *rt_shard_audit(const struct rt_object *object);

#ifdef __cplusplus
}
#endif
#endif
