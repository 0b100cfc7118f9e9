/*
 * inbox.h -- a queue from any thread to one: pushed one by one, emptied as a whole.
 *
 *      newest ──▶ link ──▶ link ──▶ oldest ──▶ nothing      what others have pushed
 *
 * The receiver takes all of it at once and reverses it, so links come out in the
 * order in which they were pushed. A link that is taken alone could be pushed again
 * between two loads of the receiver (ABA); a list taken as a whole cannot.
 *
 * Closed, `newest` points at the inbox itself, forever: "is it closed?" and "push it"
 * are one exchange, so no push can follow the last emptying.
 *
 * Ownership. Borrows each link from push to the taking of the list it is in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_SHARD_INBOX_H
#define RT_SHARD_INBOX_H

#include <stdbool.h>

#include "runtime/base/atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_inbox_link {
    struct rt_inbox_link *next;
};

struct rt_inbox {
    RT_ATOMIC(struct rt_inbox_link *) newest;
    struct rt_inbox_link closed; /* Its address is in `newest` once pushing is closed. */
};

void rt_inbox_init(struct rt_inbox *inbox);

/* Any thread: pushes `link`, which must be in no list. False once the inbox is closed. */
bool rt_inbox_push(struct rt_inbox *inbox, struct rt_inbox_link *link);

/* The receiver's: everything, oldest first, linked by `next`; NULL when there is nothing. */
struct rt_inbox_link *rt_inbox_take_all(struct rt_inbox *inbox);

/* The receiver's: as rt_inbox_take_all, and nothing can be pushed ever after. Twice: NULL. */
struct rt_inbox_link *rt_inbox_close(struct rt_inbox *inbox);

/* Whether a take would find a link. */
bool rt_inbox_is_empty(const struct rt_inbox *inbox);

#ifdef __cplusplus
}
#endif
#endif
