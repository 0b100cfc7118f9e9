/*
 * internal.h -- shared by the files of this folder only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_INTERNAL_H
#define RT_FIBER_INTERNAL_H

#include "runtime/base/assert.h"
#include "runtime/fiber/guest.h"

#define RT__STORE_MAGIC 0x52535452u

/* store.c: the result of a debit. */
enum rt__fuel { RT__FUEL_LEFT, RT__FUEL_YIELD, RT__FUEL_OUT };
enum rt__fuel rt__fuel_debit(struct rt_store *store, uint64_t units);

enum rt__epoch { RT__EPOCH_BEFORE, RT__EPOCH_YIELD, RT__EPOCH_TRAP };
enum rt__epoch rt__epoch_look(const struct rt_store *store);
void rt__epoch_renew(struct rt_store *store);

/* guest.c: the whole life of a guest, on its stack. */
void rt__guest_main(void *guest);

/*
 * True when the host function that the guest waits in has its answer, or there is none: then the
 * guest may be resumed. Calls the continuation, and its finalizer after a yes (F3).
 */
bool rt__guest_ready(struct rt_guest *guest);

/* Drops the host function that the guest waits in: its finalizer. None: no-op. */
void rt__guest_detach(struct rt_guest *guest);

#endif
