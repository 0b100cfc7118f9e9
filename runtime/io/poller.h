/*
 * poller.h -- a slab of pollables, and the table from poll indices back to keys.
 *
 * The host answers indices of the list that it was given; the runtime uses keys.
 * The poller builds the list, keeps the key of each index beside it, and
 * translates the answer (S1).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_IO_POLLER_H
#define RT_IO_POLLER_H

#include "runtime/base/slab.h"
#include "runtime/io/host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_poller_config {
    struct rt_slab_entry *entries; /* `capacity` of them; NULL for 0. */
    struct rt_pollable **list;     /* `capacity` + RT_POLLER_EXTRA: the list for the host … */
    struct rt_key *list_keys;      /* … as many: the key of each entry … */
    uint32_t *ready;               /* … as many: for the answer. */
    uint32_t capacity;
};

/* Entries that the runtime adds to the list itself: next deadline, the network's events, notify,
 * "do not block". */
#define RT_POLLER_EXTRA 4u

struct rt_poller {
    uint32_t magic;
    uint32_t count; /* Entries in the list being built. */
    uint32_t capacity;
    struct rt_slab slab;
    struct rt_pollable **list;
    struct rt_key *list_keys;
    uint32_t *ready;
    struct rt_host *host;
};

void rt_poller_init(
        struct rt_poller *poller, struct rt_host *host, const struct rt_poller_config *config);

/* Names `pollable` (borrowed until remove). RT_E_FULL. */
RT_MUST_CHECK rt_err rt_poller_insert(
        struct rt_poller *poller, struct rt_pollable *pollable, struct rt_key *ret_key);

/* What `key` names, or NULL when it is stale (P1). */
struct rt_pollable *rt_poller_get(const struct rt_poller *poller, struct rt_key key);

/* Removes it: RT_E_STALE when the key names nothing. The pollable is the caller's again. */
RT_MUST_CHECK rt_err rt_poller_remove(struct rt_poller *poller, struct rt_key key);

/* Begins an empty list. */
void rt_poller_list_clear(struct rt_poller *poller);

/* Appends what `key` names (RT_E_STALE), or an entry of the runtime itself, which has no key. A key
 * added twice is answered once for each of its entries (P5). At most `capacity` keys and
 * RT_POLLER_EXTRA others. */
RT_MUST_CHECK rt_err rt_poller_list_add(struct rt_poller *poller, struct rt_key key);
void rt_poller_list_add_extra(struct rt_poller *poller, struct rt_pollable *pollable);

/*
 * Polls the list. *ret_count keys of ready entries, in list order whatever order the host
 * answered in, are in `ret_keys` (`capacity` elements); entries of the runtime itself are left out
 * (R6), so 0 is possible. The host refuses an empty list, and a strict one traps (P3):
 * a reactor never has one (R5).
 */
RT_MUST_CHECK rt_err rt_poller_poll(
        struct rt_poller *poller, struct rt_key *ret_keys, uint32_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
