/*
 * oneshot.h -- one value, once, from one sender to one receiver (K12).
 *
 *      sender:    rt_oneshot_send(&oneshot, value)  or  rt_oneshot_drop_sender(&oneshot)
 *      receiver:  RT_AWAIT(rt_oneshot_poll(&wait, cx));   then  wait.err, wait.value
 *
 * A sender that is dropped without a value makes the receiver's answer RT_E_CANCELLED; after the
 * receiver is dropped a send answers RT_E_CLOSED. The value stays here until the receiver is
 * polled, so a wait that is dropped has lost nothing: another one may be made.
 *
 * Ownership. Pinned while a wait on it is pending. The value is a pointer whose meaning is the
 * users'; when a send answers RT_E_CLOSED it is still the sender's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SYNC_ONESHOT_H
#define RT_SYNC_ONESHOT_H

#include "runtime/compose/future.h"
#include "runtime/sync/waiters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_oneshot {
    struct rt_object object;
    void *value;
    bool sent;
    bool taken;
    bool sender_gone;   /* It has sent, or was dropped. */
    bool receiver_gone; /* The value will not be taken. */
    struct rt_slot receiver;
    const void *waiting; /* The wait that was PENDING last. */
};

/* Empty, with a sender and a receiver. */
void rt_oneshot_init(struct rt_oneshot *oneshot);

/* Ends it. A wait that is pending: fault RT_E_IN_USE. A value that was not taken is returned (else
 * NULL), for its owner to destroy. */
void *rt_oneshot_fini(struct rt_oneshot *oneshot);

/* Sends `value`, which may be NULL, and wakes the receiver. RT_E_CLOSED: the receiver is gone; the
 * value is the caller's. A second send, or one by a sender that is gone: fault RT_E_INVALID. */
#define rt_oneshot_send(oneshot, value) rt_oneshot_send_at((oneshot), (value), RT_HERE)
RT_MUST_CHECK rt_err rt_oneshot_send_at(
        struct rt_oneshot *oneshot, void *value, const struct rt_site *await);

/* Drops the sender: without a value, the receiver gets RT_E_CANCELLED. Dropped already: no-op. */
#define rt_oneshot_drop_sender(oneshot) rt_oneshot_drop_sender_at((oneshot), RT_HERE)
void rt_oneshot_drop_sender_at(struct rt_oneshot *oneshot, const struct rt_site *await);

/* Drops the receiver: sends are discarded. A value that is stored is returned (else NULL), for
 * its owner to destroy. Waits must be READY or dropped: else fault RT_E_IN_USE. Again: NULL. */
void *rt_oneshot_drop_receiver(struct rt_oneshot *oneshot);

/* The receiver's wait, pinned from its first poll until READY or drop. One at a time: another one
 * replaces it (W11). */
struct rt_oneshot_wait {
    struct rt_future future;
    struct rt_oneshot *oneshot;
    const struct rt_site *await;
    rt_err err;  /* After READY: RT_OK; RT_E_CANCELLED; RT_E_TAKEN, read by another wait. */
    void *value; /* After READY with RT_OK. */
};

#define rt_oneshot_wait_init(wait, oneshot) rt_oneshot_wait_init_at((wait), (oneshot), RT_HERE)
void rt_oneshot_wait_init_at(
        struct rt_oneshot_wait *wait, struct rt_oneshot *oneshot, const struct rt_site *await);

/* READY with `wait->err` and `wait->value`. A further poll is fault RT_E_FINISHED (T20). */
#define rt_oneshot_poll(wait, cx) rt_oneshot_poll_at((wait), (cx), RT_HERE)
rt_poll rt_oneshot_poll_at(
        struct rt_oneshot_wait *wait, struct rt_cx *cx, const struct rt_site *await);

/* Drops the wait, not the receiver: the value stays for another wait. After READY: no-op. */
#define rt_oneshot_wait_drop(wait) rt_oneshot_wait_drop_at((wait), RT_HERE)
void rt_oneshot_wait_drop_at(struct rt_oneshot_wait *wait, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
