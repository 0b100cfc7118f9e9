/*
 * sched.c -- the two run orders that come with the runtime.
 *
 *      fifo        head -> 4 -> 1 -> 7 <- tail            links by number, both ways
 *      lifo-slot   [slot: 9]  head -> 4 -> 1 <- tail      9 is next, unless it is unfair
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/sched.h"

#include <stddef.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#include "runtime/base/banned.h"

/* Walks the queue: links agree in both directions, and every member is marked as one. */
static void
verify(const struct rt_sched_fifo *fifo)
{
#ifdef RT_VERIFY
    uint32_t prev = RT_SCHED_NONE;
    uint32_t count = 0;
    for (uint32_t id = fifo->head; id != RT_SCHED_NONE; id = fifo->links[id].next) {
        rt_assert(id < fifo->capacity);
        rt_assert(fifo->links[id].queued);
        rt_assert(fifo->links[id].prev == prev);
        rt_assert(++count <= fifo->capacity);
        prev = id;
    }
    rt_assert(fifo->tail == prev);
#else
    (void)fifo;
#endif
}

static void
append(struct rt_sched_fifo *fifo, uint32_t id)
{
    rt_assert(id < fifo->capacity);
    rt_assert(!fifo->links[id].queued);
    fifo->links[id] = (struct rt_sched_link){RT_SCHED_NONE, fifo->tail, true};
    if (fifo->tail == RT_SCHED_NONE) {
        fifo->head = id;
    } else {
        fifo->links[fifo->tail].next = id;
    }
    fifo->tail = id;
    verify(fifo);
}

static void
unlink(struct rt_sched_fifo *fifo, uint32_t id)
{
    rt_assert(id < fifo->capacity);
    struct rt_sched_link *link = &fifo->links[id];
    if (!link->queued) {
        return;
    }
    if (link->prev == RT_SCHED_NONE) {
        fifo->head = link->next;
    } else {
        fifo->links[link->prev].next = link->next;
    }
    if (link->next == RT_SCHED_NONE) {
        fifo->tail = link->prev;
    } else {
        fifo->links[link->next].prev = link->prev;
    }
    rt_assert((fifo->head == RT_SCHED_NONE) == (fifo->tail == RT_SCHED_NONE));
    link->queued = false;
    verify(fifo);
}

static struct rt_sched_fifo *
fifo_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct rt_sched_fifo, sched);
}

static struct rt_sched_lifo_slot *
lifo_of(struct rt_sched *sched)
{
    return rt_container_of(sched, struct rt_sched_lifo_slot, sched);
}

static void
fifo_push(struct rt_sched *sched, uint32_t id)
{
    append(fifo_of(sched), id);
}

static uint32_t
fifo_pop(struct rt_sched *sched)
{
    struct rt_sched_fifo *fifo = fifo_of(sched);
    uint32_t id = fifo->head;
    if (id != RT_SCHED_NONE) {
        unlink(fifo, id);
    }
    return id;
}

static void
fifo_remove(struct rt_sched *sched, uint32_t id)
{
    unlink(fifo_of(sched), id);
}

static const struct rt_sched_ops fifo_ops = {
        .push = fifo_push,
        .pop = fifo_pop,
        .remove = fifo_remove,
};

/* The new task takes the slot; the previous one goes to the tail of the queue. */
static void
lifo_push(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched_lifo_slot *lifo = lifo_of(sched);
    rt_assert(id < lifo->queue.capacity);
    rt_assert(id != lifo->slot);
    rt_assert(!lifo->queue.links[id].queued);
    if (lifo->slot != RT_SCHED_NONE) {
        append(&lifo->queue, lifo->slot);
    }
    lifo->slot = id;
}

static bool
slot_is_next(const struct rt_sched_lifo_slot *lifo)
{
    if (lifo->slot == RT_SCHED_NONE) {
        return false;
    }
    return lifo->in_a_row < RT_SCHED_LIFO_IN_A_ROW_MAX || lifo->queue.head == RT_SCHED_NONE;
}

static uint32_t
lifo_pop(struct rt_sched *sched)
{
    struct rt_sched_lifo_slot *lifo = lifo_of(sched);
    if (!slot_is_next(lifo)) {
        lifo->in_a_row = 0;
        return fifo_pop(&lifo->queue.sched);
    }
    uint32_t id = lifo->slot;
    rt_assert(id < lifo->queue.capacity);
    rt_assert(!lifo->queue.links[id].queued);
    lifo->slot = RT_SCHED_NONE;
    /* Saturates: with an empty queue the slot may be used forever. */
    if (lifo->in_a_row < RT_SCHED_LIFO_IN_A_ROW_MAX) {
        lifo->in_a_row++;
    }
    return id;
}

static void
lifo_remove(struct rt_sched *sched, uint32_t id)
{
    struct rt_sched_lifo_slot *lifo = lifo_of(sched);
    if (lifo->slot == id) {
        lifo->slot = RT_SCHED_NONE;
    } else {
        unlink(&lifo->queue, id);
    }
}

static const struct rt_sched_ops lifo_ops = {
        .push = lifo_push,
        .pop = lifo_pop,
        .remove = lifo_remove,
};

void
rt_sched_fifo_init(struct rt_sched_fifo *fifo, struct rt_sched_link *links, uint32_t capacity)
{
    rt_assert(fifo != NULL);
    rt_assert(links != NULL || capacity == 0);
    rt_assert(capacity < RT_SCHED_NONE);
    *fifo = (struct rt_sched_fifo){{&fifo_ops}, links, capacity, RT_SCHED_NONE, RT_SCHED_NONE};
    for (uint32_t i = 0; i < capacity; i++) {
        links[i] = (struct rt_sched_link){RT_SCHED_NONE, RT_SCHED_NONE, false};
    }
}

void
rt_sched_lifo_slot_init(
        struct rt_sched_lifo_slot *lifo, struct rt_sched_link *links, uint32_t capacity)
{
    rt_assert(lifo != NULL);
    lifo->sched.ops = &lifo_ops;
    rt_sched_fifo_init(&lifo->queue, links, capacity);
    lifo->slot = RT_SCHED_NONE;
    lifo->in_a_row = 0;
}
