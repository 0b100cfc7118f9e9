/*
 * list.h -- the intrusive doubly linked list under every queue of the runtime.
 *
 *      head <-> node <-> node <-> (back to head)
 *
 * A head is a node that belongs to no object. A node that is in no list points
 * at itself, so unlinking twice is harmless and "is it linked?" is one compare.
 * Nothing here allocates; a linked node is pinned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_LIST_H
#define RT_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rt_list {
    struct rt_list *next;
    struct rt_list *prev;
};

/* The object of type `type` whose member `member` is at `node`. Through an integer, for
 * -Wcast-align and for const nodes. */
#define rt_container_of(node, type, member) \
    ((type *)(void *)((uintptr_t)(node)-offsetof(type, member)))

static inline void
rt_list_init(struct rt_list *list)
{
    list->next = list;
    list->prev = list;
}

/* True for a head without nodes and for a node in no list. */
static inline bool
rt_list_empty(const struct rt_list *list)
{
    return list->next == list;
}

/* Appends `node`, which must be in no list, after the last node of `head`. */
static inline void
rt_list_push_back(struct rt_list *head, struct rt_list *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Inserts `node`, which must be in no list, before the first node of `head`. */
static inline void
rt_list_push_front(struct rt_list *head, struct rt_list *node)
{
    rt_list_push_back(head->next, node);
}

/* Unlinks `node`; a node in no list stays as it is. */
static inline void
rt_list_unlink(struct rt_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    rt_list_init(node);
}

/* Unlinks and returns the first node, or NULL when there is none. */
static inline struct rt_list *
rt_list_pop_front(struct rt_list *head)
{
    struct rt_list *node = head->next;
    if (node == head) {
        return NULL;
    }
    rt_list_unlink(node);
    return node;
}

/* Moves all nodes of `from` after the last of `to`, in their order. `from` is empty afterwards. */
static inline void
rt_list_splice(struct rt_list *to, struct rt_list *from)
{
    if (rt_list_empty(from)) {
        return;
    }
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    rt_list_init(from);
}

#define rt_list_each(node, head) \
    for (struct rt_list *node = (head)->next; node != (head); node = node->next)

#endif
