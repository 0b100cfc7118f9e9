/*
 * wait_queue.c -- a queue of slots, each with the ticket it drew when it joined.
 *
 * A wake stops at the first ticket drawn after it began. That is all it has to
 * remember, so a woken task may store, wake or clear the same queue (W7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/wait_queue.h"

#include "runtime/task/cx.h"
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

#define QUEUE_MAGIC 0x52515545u

static struct rt_wait_queue_entry *
entry_of(struct rt_list *node)
{
    return rt_container_of(node, struct rt_wait_queue_entry, link);
}

static void
leave_line(struct rt_wait_queue *queue, struct rt_wait_queue_entry *entry)
{
    rt_assert(!rt_list_empty(&entry->link));
    rt_assert(entry->ticket < queue->next_ticket);
    rt_list_unlink(&entry->link);
    rt_list_push_back(&queue->free, &entry->link);
}

/* Removes the entries whose task waits no more. */
static void
sweep(struct rt_wait_queue *queue, const struct rt_site *await)
{
    struct rt_list *node = queue->waiting.next;
    while (node != &queue->waiting) {
        struct rt_wait_queue_entry *entry = entry_of(node);
        node = node->next;
        if (!rt_slot_awaited(&entry->slot)) {
            leave_line(queue, entry);
            /* At most a key without a target: no foreign code is called. */
            (void)rt_slot_clear_at(&entry->slot, await);
        }
    }
}

static struct rt_wait_queue_entry *
find(struct rt_wait_queue *queue, const struct rt_waker *waker)
{
    rt_list_each(node, &queue->waiting)
    {
        struct rt_wait_queue_entry *entry = entry_of(node);
        if (rt_waker_will_wake(&entry->slot.waker, waker)) {
            return entry;
        }
    }
    return NULL;
}

static struct rt_wait_queue_entry *
join_line(struct rt_wait_queue *queue)
{
    struct rt_list *node = rt_list_pop_front(&queue->free);
    if (node == NULL) {
        return NULL;
    }
    struct rt_wait_queue_entry *entry = entry_of(node);
    rt_assert(rt_slot_empty(&entry->slot));
    entry->ticket = queue->next_ticket++;
    rt_assert(rt_list_empty(&queue->waiting) ||
              entry_of(queue->waiting.prev)->ticket < entry->ticket);
    rt_list_push_back(&queue->waiting, &entry->link);
    return entry;
}

void
rt_wait_queue_init(struct rt_wait_queue *queue, struct rt_wait_queue_entry *entries, uint32_t count)
{
    rt_assert(queue != NULL);
    rt_assert(entries != NULL || count == 0);
    queue->object = (struct rt_object){QUEUE_MAGIC, RT_PROBE_OBJECT(QUEUE)};
    queue->next_ticket = 0;
    rt_list_init(&queue->waiting);
    rt_list_init(&queue->free);
    for (uint32_t i = 0; i < count; i++) {
        rt_slot_init(&entries[i].slot);
        entries[i].slot.owner = queue->object.id;
        entries[i].ticket = 0;
        rt_list_push_back(&queue->free, &entries[i].link);
    }
}

void
rt_wait_queue_clear_at(struct rt_wait_queue *queue, const struct rt_site *await)
{
    rt_check(&queue->object, QUEUE_MAGIC);
    while (!rt_list_empty(&queue->waiting)) {
        struct rt_wait_queue_entry *entry = entry_of(queue->waiting.next);
        leave_line(queue, entry);
        (void)rt_slot_clear_at(&entry->slot, await);
    }
}

rt_err
rt_wait_queue_store_at(struct rt_wait_queue *queue, struct rt_cx *cx, const char *reason,
        const struct rt_site *site, const struct rt_site *await)
{
    rt_check(&queue->object, QUEUE_MAGIC);
    rt_cx_check(cx);
    sweep(queue, await);
    struct rt_wait_queue_entry *entry = find(queue, &cx->waker);
    if (entry == NULL) {
        entry = join_line(queue);
    }
    if (entry == NULL) {
        return RT_E_FULL;
    }
    rt_err err = rt_slot_store_at(&entry->slot, cx, reason, site, await);
    rt_assert(err == RT_OK);
    rt_assert(!rt_slot_empty(&entry->slot));
    return RT_OK;
}

bool
rt_wait_queue_leave_at(
        struct rt_wait_queue *queue, const struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&queue->object, QUEUE_MAGIC);
    rt_cx_check(cx);
    struct rt_wait_queue_entry *entry = find(queue, &cx->waker);
    if (entry == NULL) {
        return false;
    }
    leave_line(queue, entry);
    (void)rt_slot_clear_at(&entry->slot, await);
    return true;
}

uint32_t
rt_wait_queue_wake_at(struct rt_wait_queue *queue, uint32_t count, const struct rt_site *await)
{
    rt_check(&queue->object, QUEUE_MAGIC);
    uint64_t tickets_end = queue->next_ticket;
    uint32_t woken = 0;
    while (woken < count && !rt_list_empty(&queue->waiting)) {
        struct rt_wait_queue_entry *entry = entry_of(queue->waiting.next);
        if (entry->ticket >= tickets_end) {
            break;
        }
        bool counts = rt_slot_awaited(&entry->slot);
        leave_line(queue, entry);
        if (counts) {
            woken++;
            (void)rt_slot_wake_at(&entry->slot, await);
        } else {
            (void)rt_slot_clear_at(&entry->slot, await);
        }
    }
    rt_assert(woken <= count);
    return woken;
}

uint32_t
rt_wait_queue_length(const struct rt_wait_queue *queue)
{
    rt_check(&queue->object, QUEUE_MAGIC);
    uint32_t length = 0;
    rt_list_each(node, &queue->waiting)
    {
        length += rt_slot_awaited(&entry_of(node)->slot) ? 1 : 0;
    }
    return length;
}
