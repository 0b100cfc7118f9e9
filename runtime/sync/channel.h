/*
 * channel.h -- a bounded queue of items between tasks, over caller-provided memory.
 *
 *      send ──▶ room ──▶ ┌───┬───┬───┬───┐ ──▶ items ──▶ recv
 *      reserve ─▶ permit ▶│   ring, FIFO  │
 *                         └───┴───┴───┴───┘
 *
 * It has two queues of waiters (waiters.h): senders wait for *capacity* (`room`), receivers for
 * *items*. A grant is counted, not handed over: an item stays in the ring until its receiver is
 * polled, so a receive that is cancelled has consumed nothing (K5), and the next one is woken (K6).
 * Both queues are FIFO without barging: while a task queues, rt_channel_try_send answers RT_E_FULL
 * and rt_channel_try_recv RT_E_AGAIN (K1).
 *
 * A send that is cancelled has sent nothing, and loses its position; a task that must not make the
 * item in vain reserves first, and makes it when it has the permit (K4).
 *
 * *Open and closed.* A channel counts its senders, its receivers and its handles (which may add
 * either). It closes when handles are 0 and senders or receivers are 0 (K3), or by
 * rt_channel_close. Closed: sends fail with RT_E_CLOSED; receivers drain the items, then get
 * RT_E_CLOSED, the end. When the receivers are gone as well, unread items are destroyed (K2).
 * Each side is dropped by its owner: dropping futures does not lower the counts.
 *
 *      handles  senders  receivers
 *         1        0         0       after rt_channel_init: open
 *         0        2         1       open
 *         0        0         1       closed: receivers drain
 *         0        2         0       closed: unread items destroyed, sends fail
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_CHANNEL_H
#define RT_SYNC_CHANNEL_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_channel_config {
    void *ring;         /* Caller-provided: capacity * item_size bytes, aligned for the items. */
    uint32_t item_size; /* 0: items are only counted; `ring` may be NULL. */
    uint32_t capacity;  /* At least 1, at most RT_UNITS_MAX. */
    /* Called for each item that will not be read, in the ring; NULL: nothing to do. It may use the
     * channel, but not end it. */
    void (*destroy)(const void *item, void *argument);
    void *argument;
};

struct rt_channel {
    struct rt_object object;
    struct rt_channel_config config;
    uint32_t head;  /* Of the oldest item. */
    uint32_t count; /* Items in the ring, granted ones included. */
    uint32_t permits;
    uint32_t handles;
    uint32_t senders;
    uint32_t receivers;
    bool closed;
    struct rt_waiters room;  /* Free capacity, neither granted nor reserved. */
    struct rt_waiters items; /* Items that are not granted. */
};

/* An open, empty channel with one handle, no sender and no receiver. `config` is copied. Pinned. */
void rt_channel_init(struct rt_channel *channel, const struct rt_channel_config *config);

/*
 * Ends it. While a handle, a side, a permit or a future that waits is left: fault RT_E_IN_USE
 * (K13). Items are never left: they were destroyed when the last handle and receiver went (K2).
 */
void rt_channel_fini(struct rt_channel *channel);

/*
 * Opens it again, empty, with one handle (K13). RT_E_IN_USE, and nothing has changed, while a
 * handle, a side, a permit or a future that waits is left, also one that no task polls just now.
 */
RT_MUST_CHECK rt_err rt_channel_reopen(struct rt_channel *channel);

/* One handle, sender or receiver more. One that joins a closed channel finds it closed. */
void rt_channel_add_handle(struct rt_channel *channel);
void rt_channel_add_sender(struct rt_channel *channel);
void rt_channel_add_receiver(struct rt_channel *channel);

/* One less, and what follows from it (K2, K3). Of none: fault RT_E_INVALID. */
#define rt_channel_drop_handle(channel) rt_channel_drop_handle_at((channel), RT_HERE)
#define rt_channel_drop_sender(channel) rt_channel_drop_sender_at((channel), RT_HERE)
#define rt_channel_drop_receiver(channel) rt_channel_drop_receiver_at((channel), RT_HERE)
void rt_channel_drop_handle_at(struct rt_channel *channel, const struct rt_site *await);
void rt_channel_drop_sender_at(struct rt_channel *channel, const struct rt_site *await);
void rt_channel_drop_receiver_at(struct rt_channel *channel, const struct rt_site *await);

/* Closes it whatever the counts say, and wakes all waiters on both sides (K3). Closed: no-op. */
#define rt_channel_close(channel) rt_channel_close_at((channel), RT_HERE)
void rt_channel_close_at(struct rt_channel *channel, const struct rt_site *await);

/* Destroys the items in it, returns how many, and wakes senders for the capacity. A receiver that
 * was granted one of them keeps waiting (K7). */
#define rt_channel_clear(channel) rt_channel_clear_at((channel), RT_HERE)
uint32_t rt_channel_clear_at(struct rt_channel *channel, const struct rt_site *await);

/* Copies `item` in. RT_E_FULL: no capacity, or a sender queues for it; RT_E_CLOSED. The item is
 * still the caller's then. */
#define rt_channel_try_send(channel, item) rt_channel_try_send_at((channel), (item), RT_HERE)
RT_MUST_CHECK rt_err rt_channel_try_send_at(
        struct rt_channel *channel, const void *item, const struct rt_site *await);

/* Copies the oldest item out. RT_E_AGAIN: no item that is not granted to a receiver; RT_E_CLOSED:
 * no item, and none will follow. `ret_item` is untouched then. */
#define rt_channel_try_recv(channel, ret_item) \
    rt_channel_try_recv_at((channel), (ret_item), RT_HERE)
RT_MUST_CHECK rt_err rt_channel_try_recv_at(
        struct rt_channel *channel, void *ret_item, const struct rt_site *await);

static inline bool
rt_channel_closed(const struct rt_channel *channel)
{
    return channel->closed;
}

/* Items in it, granted ones included. */
static inline uint32_t
rt_channel_length(const struct rt_channel *channel)
{
    return channel->count;
}

/* ---- Sending: a future. ---------------------------------------------------------------------- */

struct rt_send {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_channel *channel;
    const void *item;
    const struct rt_site *await;
    rt_err err; /* After READY: RT_OK, or RT_E_CLOSED and the item is still the caller's. */
};

/* A send of `item`, borrowed until READY or drop, copied at READY. Waits from its first poll on. */
#define rt_send_init(send, channel, item) rt_send_init_at((send), (channel), (item), RT_HERE)
void rt_send_init_at(struct rt_send *send, struct rt_channel *channel, const void *item,
        const struct rt_site *await);

/* READY with `send->err`. A further poll is fault RT_E_FINISHED (T20). */
#define rt_send_poll(send, cx) rt_send_poll_at((send), (cx), RT_HERE)
rt_poll rt_send_poll_at(struct rt_send *send, struct rt_cx *cx, const struct rt_site *await);

/* Drops it: nothing was sent (K5); capacity that it was granted goes to the next (K6). */
#define rt_send_drop(send) rt_send_drop_at((send), RT_HERE)
void rt_send_drop_at(struct rt_send *send, const struct rt_site *await);

/* ---- Reserving: a future that ends in a permit. ---------------------------------------------- */

/* Capacity for one item, reserved for its holder (K4). May be copied and passed on; used once. */
struct rt_permit {
    struct rt_channel *channel; /* NULL: none, or used up. */
};

/* Puts `item` in, without waiting. On a closed channel the item is destroyed and the answer is
 * RT_E_CLOSED, which may be ignored (K4). Used up: fault RT_E_FINISHED. */
#define rt_permit_commit(permit, item) rt_permit_commit_at((permit), (item), RT_HERE)
rt_err rt_permit_commit_at(struct rt_permit *permit, const void *item, const struct rt_site *await);

/* Gives the capacity back, and wakes a sender for it (K4). Used up: no-op. */
#define rt_permit_drop(permit) rt_permit_drop_at((permit), RT_HERE)
void rt_permit_drop_at(struct rt_permit *permit, const struct rt_site *await);

struct rt_reserve {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_channel *channel;
    const struct rt_site *await;
    struct rt_permit permit; /* After READY with RT_OK: the caller's to take. */
    rt_err err;              /* After READY: RT_OK or RT_E_CLOSED. */
};

#define rt_reserve_init(reserve, channel) rt_reserve_init_at((reserve), (channel), RT_HERE)
void rt_reserve_init_at(
        struct rt_reserve *reserve, struct rt_channel *channel, const struct rt_site *await);

/* READY with `reserve->err` and `reserve->permit`. A further poll is fault RT_E_FINISHED (T20). */
#define rt_reserve_poll(reserve, cx) rt_reserve_poll_at((reserve), (cx), RT_HERE)
rt_poll rt_reserve_poll_at(
        struct rt_reserve *reserve, struct rt_cx *cx, const struct rt_site *await);

/* Drops it (K6). After READY: no-op; the permit has its own drop. */
#define rt_reserve_drop(reserve) rt_reserve_drop_at((reserve), RT_HERE)
void rt_reserve_drop_at(struct rt_reserve *reserve, const struct rt_site *await);

/* ---- Receiving: a future. -------------------------------------------------------------------- */

struct rt_recv {
    struct rt_future future;
    struct rt_waiter waiter;
    struct rt_channel *channel;
    void *item;
    const struct rt_site *await;
    rt_err err; /* After READY: RT_OK, or RT_E_CLOSED, the end: `item` is untouched. */
};

/* A receive into `ret_item`, borrowed until READY or drop. Waits from its first poll on. */
#define rt_recv_init(recv, channel, ret_item) \
    rt_recv_init_at((recv), (channel), (ret_item), RT_HERE)
void rt_recv_init_at(struct rt_recv *recv, struct rt_channel *channel, void *ret_item,
        const struct rt_site *await);

/* READY with `recv->err`. A further poll is fault RT_E_FINISHED (T20). */
#define rt_recv_poll(recv, cx) rt_recv_poll_at((recv), (cx), RT_HERE)
rt_poll rt_recv_poll_at(struct rt_recv *recv, struct rt_cx *cx, const struct rt_site *await);

/* Drops it: nothing was consumed (K5); an item that it was granted goes to the next (K6). */
#define rt_recv_drop(recv) rt_recv_drop_at((recv), RT_HERE)
void rt_recv_drop_at(struct rt_recv *recv, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
