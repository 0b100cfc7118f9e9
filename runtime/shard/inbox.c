/*
 * inbox.c -- a queue from any thread to one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/inbox.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

void
rt_inbox_init(struct rt_inbox *inbox)
{
    rt_assert(inbox != NULL);
    atomic_init(&inbox->newest, NULL);
    inbox->closed.next = NULL;
}

bool
rt_inbox_push(struct rt_inbox *inbox, struct rt_inbox_link *link)
{
    rt_assert(link != NULL);
    /* Relaxed: only compared, and linked to; its memory is read by the receiver alone. */
    struct rt_inbox_link *newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);
    do {
        if (newest == &inbox->closed) {
            return false;
        }
        link->next = newest;
        /* Release: the link and its container, before the pointer to it. Relaxed where another
         * push was faster: we load the pointer and try again. */
    } while (!atomic_compare_exchange_weak_explicit(
            &inbox->newest, &newest, link, memory_order_release, memory_order_relaxed));
    return true;
}

static struct rt_inbox_link *
oldest_first(struct rt_inbox_link *newest)
{
    struct rt_inbox_link *turned = NULL;
    while (newest != NULL) {
        struct rt_inbox_link *next = newest->next;
        newest->next = turned;
        turned = newest;
        newest = next;
    }
    return turned;
}

struct rt_inbox_link *
rt_inbox_take_all(struct rt_inbox *inbox)
{
    if (rt_inbox_is_empty(inbox)) {
        return NULL;
    }
    /* Acquire: what each pusher wrote before its push; the pushes between are read-modify-writes,
     * so the newest one carries all of them. */
    return oldest_first(atomic_exchange_explicit(&inbox->newest, NULL, memory_order_acquire));
}

struct rt_inbox_link *
rt_inbox_close(struct rt_inbox *inbox)
{
    /* Acquire as above; release, so that a thread that finds it closed sees what came before. */
    struct rt_inbox_link *newest =
            atomic_exchange_explicit(&inbox->newest, &inbox->closed, memory_order_acq_rel);
    return newest == &inbox->closed ? NULL : oldest_first(newest);
}

bool
rt_inbox_is_empty(const struct rt_inbox *inbox)
{
    /* Acquire: a shard that finds it empty goes to sleep on that; see shard.c. */
    struct rt_inbox_link *newest = atomic_load_explicit(&inbox->newest, memory_order_acquire);
    return newest == NULL || newest == &inbox->closed;
}
