/*
 * message.h -- a request of one shard to another, and its answer.
 *
 *                     on the origin                │            on the target
 *                                                  │
 *             rt_message_send                 lane │ taken
 *      IDLE ──────────────────▶ SENT ──────────────┼──────▶ ARRIVED     `arrive` is called
 *       ▲                                          │            │
 *       │                                          │            │ answer, at once or later
 *       │     `answered` is called            lane │            ▼
 *       └──────────────────────────────────────────┼──────── ANSWERED
 *                                             taken│
 *
 * SENT and ANSWERED: it is in the sender's queue, then in the lane (X3). It returns to its origin
 * exactly once, whatever happens (X7): a target that is closing answers what has arrived, and
 * nothing is sent to one that has closed.
 *
 * From outside (an *alien*, a thread that is no shard) there is no return path: IDLE
 * ─rt_alien_submit─▶ SENT ─▶ ARRIVED ─▶ ANSWERED, `answered` is called on the target's thread, and
 * with IDLE, the last store, the message is the alien's again.
 *
 * Order. What one shard sends to one other arrives in the order of sending, answers among it;
 * between different pairs there is no order (X2).
 *
 * Ownership. A message is embedded in its sender's memory, and pinned while it is not IDLE. Its
 * current holder may write it: sender, target, sender; aliens check rt_message_is_idle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_MESSAGE_H
#define RT_SHARD_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/atomic.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/probe.h"
#include "runtime/shard/inbox.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_message;
struct rt_shard;

enum rt_message_state { RT_MESSAGE_IDLE, RT_MESSAGE_SENT, RT_MESSAGE_ARRIVED, RT_MESSAGE_ANSWERED };

/* Called by the loop of `shard`, outside of any poll; may post, wake, send and answer. */
typedef void (*rt_message_fn)(struct rt_message *message, struct rt_shard *shard);

struct rt_message {
    struct rt_object object;
    RT_ATOMIC(unsigned) state; /* enum rt_message_state */
    uint32_t from;             /* RT_MESSAGE_ALIEN: a thread that is no shard. */
    uint32_t to;
    rt_err result;       /* The target's answer. */
    struct rt_list link; /* In the queue of the shard that sends it now. */
    struct rt_inbox_link inbox_link;
    rt_message_fn arrive;   /* On the target. Must arrange that it is answered. */
    rt_message_fn answered; /* On the origin; of an alien's, on the target. NULL: nothing to do. */
};

#define RT_MESSAGE_ALIEN UINT32_MAX

/* Makes an IDLE message. `arrive` must not be NULL. */
void rt_message_init(struct rt_message *message, rt_message_fn arrive, rt_message_fn answered);

/*
 * Sends an IDLE message from `origin`, on its loop's thread, to the shard with number `to`, which
 * may be its own. It never waits: a full lane only makes the queue longer (X3).
 * RT_E_CLOSED once `origin` is closing (X7); RT_E_INVALID: no such shard; RT_E_IN_USE: it is under
 * way. Nothing has changed in these cases. From another thread: fault RT_E_FOREIGN.
 */
#define rt_message_send(message, origin, to) rt_message_send_at((message), (origin), (to), RT_HERE)
RT_MUST_CHECK rt_err rt_message_send_at(struct rt_message *message, struct rt_shard *origin,
        uint32_t to, const struct rt_site *await);

/*
 * Sends an ARRIVED message back, with `result`. On the shard where it has arrived: elsewhere, fault
 * RT_E_FOREIGN. A message that is not ARRIVED (answered before, never sent): fault RT_E_INVALID.
 */
#define rt_message_answer(message, shard, result) \
    rt_message_answer_at((message), (shard), (result), RT_HERE)
void rt_message_answer_at(struct rt_message *message, struct rt_shard *shard, rt_err result,
        const struct rt_site *await);

/*
 * Sends an IDLE message to `shard` from a thread that is no shard (X3). RT_E_FULL when as many as
 * it takes wait already, RT_E_CLOSED once it is closing: the message is IDLE then. RT_E_IN_USE as
 * above.
 */
#define rt_alien_submit(message, shard) rt_alien_submit_at((message), (shard), RT_HERE)
RT_MUST_CHECK rt_err rt_alien_submit_at(
        struct rt_message *message, struct rt_shard *shard, const struct rt_site *await);

/* Whether it is the caller's. For an alien: once true, `result` may be read and the memory freed.
 * */
bool rt_message_is_idle(const struct rt_message *message);

#ifdef __cplusplus
}
#endif
#endif
