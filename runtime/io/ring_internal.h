/*
 * ring_internal.h -- what ring.c provides to op.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_RING_INTERNAL_H
#define RT_IO_RING_INTERNAL_H

#include "runtime/io/op.h"

/* Checks that `ring` is one. */
void rt__ring_check(const struct rt_ring *ring);

/* Gives `op`, whose request is set, a place, or queues it. */
void rt__ring_admit(struct rt_ring *ring, struct rt_op *op);

/* The place of `op`; NULL while it has none. */
struct rt_ring_place *rt__ring_place(const struct rt_op *op);

/* Asks the host to end it. Sent, not finished, not asked already: the caller has checked. */
void rt__ring_want_cancel(struct rt_ring *ring, struct rt_ring_place *place);

/* Frees a place that the host has never seen. */
void rt__ring_withdraw(struct rt_ring *ring, struct rt_ring_place *place);

/* Takes the oldest result into *ret_result; false when there is none. The last one separates handle
 * and place. */
bool rt__ring_take(struct rt_ring_place *place, struct rt_op_result *ret_result);

/* Separates the handle from its place: results present and future go to `release`. */
void rt__ring_ignore(struct rt_ring *ring, struct rt_ring_place *place);

/* A turn if there is something to push or to deliver. */
void rt__ring_kick(struct rt_ring *ring, const struct rt_site *await);

#ifdef RT_VERIFY
#define rt__ring_verify(ring) rt_assert(rt_ring_audit(ring) == NULL)
#else
#define rt__ring_verify(ring) ((void)(ring))
#endif

#endif
