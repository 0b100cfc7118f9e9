/*
 * internal.h -- shared by the files of this folder only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_INTERNAL_H
#define RT_COMPOSE_INTERNAL_H

#include "runtime/base/assert.h"
#include "runtime/compose/children.h"

/* ---- future.c: for a future with a separate poll call, which knows the line that awaits. --- */

/* Opens such a call: fault RT_E_FINISHED when the future was READY before, or dropped (T20). */
void rt__future_begin(const struct rt_future *future);

/* Closes it: notes a READY, and passes the answer on. */
rt_poll rt__future_end(struct rt_future *future, rt_poll answer);

/* ---- children.c: a parent and its children, whatever they are. ------------------------------- */

/* Makes a parent without children; `object` is the combinator's, `name` is borrowed. */
void rt__parent_init(struct rt_parent *parent, struct rt_object object, const char *name);

/*
 * Opens a poll: stores the parent's waker (rule 3). True when every unfinished child is to be
 * polled, woken or not (rule 4). Fault RT_E_INVALID on another executor than before.
 */
bool rt__parent_begin(struct rt_parent *parent, struct rt_cx *cx, const struct rt_site *site,
        const struct rt_site *await);

/* The parent is not to be woken any more, until the next rt__parent_begin. */
void rt__parent_leave(struct rt_parent *parent, const struct rt_site *await);

/* The audit common to all combinators: NULL, or what is wrong. */
const char *rt__parent_audit(const struct rt_parent *parent);

/* Makes a child whose bit is not set; `index` names it in traces. Its future stays as it is. */
void rt__child_init(struct rt_child *child, struct rt_parent *parent, uint32_t index);

/* Sets its bit and wakes the parent, as the child's waker does. */
void rt__child_wake(struct rt_child *child, const struct rt_site *await);

/* Sets its bit without a wake: for a parent whose answer is READY. */
void rt__child_mark(struct rt_child *child);

static inline bool
rt__child_due(const struct rt_child *child, bool all)
{
    return !child->finished && (all || child->woken);
}

/*
 * Opens a child's poll: clears its bit (rule 1) and makes the context, which is the caller's to
 * poison. Fault RT_E_FULL when the executor has no entry for the child's waker.
 */
struct rt_cx rt__child_begin(struct rt_child *child, const struct rt_cx *cx);

/* Ends it: no bit, and its wakers are dead (J4). */
void rt__child_end(struct rt_child *child);

/* ---- children.c: an array of futures. -------------------------------------------------------- */

/* Makes the children from `array`, whose futures are set; `audit` is called while they live. */
void rt__children_init(struct rt_children *children, struct rt_object object, const char *name,
        struct rt_child *array, uint32_t count);

/* Polls a child that is due; counts it as finished when it is READY. */
rt_poll rt__children_poll(
        struct rt_children *children, struct rt_child *child, const struct rt_cx *cx);

/* Drops those that have not finished, in index order, without waking the parent (J4, J5). */
void rt__children_drop(struct rt_children *children, const struct rt_site *await);

/* The audit of an array; `object` is its parent's. */
const char *rt__children_audit(const struct rt_object *object);

/* group.c: the audit of a group. */
const char *rt__group_audit(const struct rt_object *object);

#endif
