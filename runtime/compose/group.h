/*
 * group.h -- any number of streams as one, with members that are added and removed.
 *
 *      slab    [0: stream a] [1: free] [2: stream b] [3: stream c] ...     caller's entries
 *                                          ▲
 *                                          └ the next poll begins here: a yielded last
 *
 * A poll goes once round the members, in the order of their keys' indices, from the one *after*
 * the last that yielded (J10): a member that always has something cannot shut out the others.
 * It polls those that were woken, or all (children.h), each at most once (J11), and
 * ends
 *
 *   - at the first item. Its member stays woken, for it may have more (J9);
 *   - after as many polls as there were members when it began, or after two members that woke
 *     themselves during their poll, which is how a member yields (J11). A member is woken
 *     then, so the group has woken its own task, is polled again after the others, and
 *     continues after the second of the two;
 *   - with READY and nothing when no member is left (J9).
 *
 * A member whose stream ends leaves by itself. Members may be inserted and removed at any
 * time, also by another member's poll; a new one is polled in the same round if its index is
 * still ahead.
 *
 * A group is a stream as well, without the keys: as such it ends when it is empty.
 *
 * Ownership. The group borrows its entries for its life, each member and its stream from the
 * insertion until the stream ends, is removed, or the group is dropped; all of them are pinned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_COMPOSE_GROUP_H
#define RT_COMPOSE_GROUP_H

#include "runtime/base/slab.h"
#include "runtime/compose/children.h"
#include "runtime/compose/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Holds one stream; all zero, or as a former member left it. */
struct rt_group_member {
    struct rt_child child;
    struct rt_stream *stream;
    bool polled; /* It is being polled. */
};

struct rt_group {
    struct rt_stream stream;
    struct rt_parent parent;
    struct rt_slab members;
    uint32_t next; /* The index at which the next poll begins. */
    bool polling;  /* A member is being polled. */
    bool dropped;
};

/* Makes an empty group over `capacity` entries (borrowed, need not be initialised), possibly 0. */
void rt_group_init(struct rt_group *group, struct rt_slab_entry *entries, uint32_t capacity);

/*
 * Inserts `stream`, held by `member`: it is polled with the next poll, and the task that waits for
 * the group is woken for it. *ret_key names it, forever (J9).
 * RT_E_FULL when no entry is left: nothing has changed.
 */
#define rt_group_insert(group, member, stream, ret_key) \
    rt_group_insert_at((group), (member), (stream), (ret_key), RT_HERE)
RT_MUST_CHECK rt_err rt_group_insert_at(struct rt_group *group, struct rt_group_member *member,
        struct rt_stream *stream, struct rt_key *ret_key, const struct rt_site *await);

/*
 * Takes a member out and drops its stream. True when it was there; false when it has ended, was
 * removed before, or never was: a new member in the same entry has another key (J9).
 * A member that removes itself in its own poll: fault RT_E_REENTERED.
 */
bool rt_group_remove(struct rt_group *group, struct rt_key key);

/*
 * READY with *ret_item (borrowed until that member is polled again) and the key of the member that
 * yielded it; or with NULL when the group is empty: it may be polled again, and yields again
 * after an insert. Both stay as they are after PENDING; `ret_key` may be NULL.
 * The executor needs one free entry a member, fault RT_E_FULL without; all polls are on one
 * executor, fault RT_E_INVALID otherwise. From inside a member's poll: fault RT_E_REENTERED. After
 * the drop: fault RT_E_FINISHED (T20).
 */
#define rt_group_poll(group, cx, ret_key, ret_item) \
    rt_group_poll_at((group), (cx), (ret_key), (ret_item), RT_HERE)
rt_poll rt_group_poll_at(struct rt_group *group, struct rt_cx *cx, struct rt_key *ret_key,
        void **ret_item, const struct rt_site *await);

/* How many members there are. */
uint32_t rt_group_size(const struct rt_group *group);

/* Drops all members' streams, in the order of their indices. Twice: no-op. From inside a member's
 * poll: fault RT_E_REENTERED. */
void rt_group_drop(struct rt_group *group);

#ifdef __cplusplus
}
#endif
#endif
