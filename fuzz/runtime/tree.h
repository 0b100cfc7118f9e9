/*
 * tree.h -- a tree of combinators over leaves that become ready when the tape says so.
 *
 * The naive semantics of a tree is one recursion over it: a join is ready when all parts are, a
 * race when one is, and so on. tree_due evaluates it over the leaves as set by the tape: the tree's
 * result once all woken tasks are polled. tree_done evaluates it over the results of the parts, and
 * checks the state of the combinators: winner, set, error, expiry.
 *
 * A leaf checks when it may be polled: first, after its wake, and when its task was woken for a
 * reason that no combinator knows. A leaf that is ready or dropped is never polled again: the head
 * of a future prevents that (T20).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_TREE_H
#define FUZZ_RUNTIME_TREE_H

#include "fuzz/fuzz.h"
#include "runtime/runtime.h"
#include "runtime/task/scope.h"

FUZZ_UNSEEN_BEGIN

#define NODES 12u /* Of a tree. */
#define PARTS 4u
#define DEPTH 3u

enum node_kind { LEAF, JOIN, RACE, SELECT, TRY_JOIN, TIMEOUT, GROUP };

struct tree;

struct leaf {
    struct rt_future future;
    struct rt_slot slot;
    struct rt_defer defer; /* On the stack of its task from its first poll until it is ready. */
    uint32_t deferred;     /* How many were on that stack before it. */
    uint8_t yields;        /* Polls in which it yields before it is ready. */
    bool scoped;
    bool cancels; /* Its task, in the poll in which it is ready. */
    rt_err err;   /* What a try_join reads. */
    bool polled;
    bool woken;    /* Since its last poll. */
    bool yielding; /* It yielded in its last poll. */
    bool ready;    /* By the tape … */
    bool finished; /* … and by its own answer. */
    bool dropped;
};

/* The items of a group of futures, as a future. */
struct gathering {
    struct rt_future future;
    struct rt_group group;
    struct rt_slab_entry entries[PARTS];
    struct rt_group_member members[PARTS];
    struct rt_once once[PARTS];
    uint32_t items;
    bool empty;
};

struct node {
    enum node_kind kind;
    struct tree *tree;
    uint32_t number; /* Greater than those of the parts before it, and than its whole's. */
    uint32_t count;
    struct node *parts[PARTS];
    struct rt_child children[PARTS];
    const rt_err *errors[PARTS];
    struct rt_future *future;
    union {
        struct leaf leaf;
        struct rt_join join;
        struct rt_race race;
        struct rt_select select;
        struct rt_try_join try_join;
        struct rt_timeout timeout;
        struct gathering gathering;
    } as;
};

struct tree {
    struct node nodes[NODES];
    uint32_t count;
    struct rt_scope scope;
    uint32_t deferred;  /* Clean-ups put on the stack so far. */
    uint32_t run_below; /* The position of the clean-up that ran last. */
    uint32_t on_stack;
    uint32_t last_dropped; /* Number of the leaf that was dropped last, in one sweep. */
    bool sweeping;         /* All of it is being dropped. */
    bool all;              /* Any leaf may be polled: the task was woken without a leaf. */
    bool selects;          /* There is a select in it. */
    void (*cancel)(struct tree *tree);
};

/* ---- Leaves. ------------------------------------------------------------------------------- */

static inline struct node *
tree_leaf_of(struct rt_future *future)
{
    return rt_container_of(future, struct node, as.leaf.future);
}

static inline void
tree_clean_up(struct rt_defer *defer)
{
    struct node *node = rt_container_of(defer, struct node, as.leaf.defer);
    struct tree *tree = node->tree;
    fuzz_check(node->as.leaf.deferred < tree->run_below);
    tree->run_below = node->as.leaf.deferred;
    tree->on_stack -= 1;
}

static inline void
tree_first_poll(struct node *node)
{
    struct leaf *leaf = &node->as.leaf;
    leaf->polled = true;
    if (leaf->scoped) {
        leaf->deferred = node->tree->deferred++;
        node->tree->on_stack += 1;
        rt_scope_defer(&node->tree->scope, &leaf->defer);
    }
}

static inline rt_poll
tree_finish_leaf(struct node *node)
{
    struct leaf *leaf = &node->as.leaf;
    leaf->finished = true;
    (void)rt_slot_clear(&leaf->slot);
    if (leaf->scoped) {
        fuzz_check(rt_undefer(&leaf->defer));
        node->tree->on_stack -= 1;
    }
    if (leaf->cancels) {
        node->tree->cancel(node->tree);
    }
    return RT_READY;
}

static inline rt_poll
tree_leaf_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct node *node = tree_leaf_of(future);
    struct leaf *leaf = &node->as.leaf;
    fuzz_check(!leaf->polled || leaf->woken || node->tree->all);
    if (!leaf->polled) {
        tree_first_poll(node);
    }
    leaf->woken = false;
    leaf->yielding = false;
    if (leaf->ready && leaf->yields == 0) {
        return tree_finish_leaf(node);
    }
    rt_slot_replace(&leaf->slot, cx, "the tape");
    if (leaf->ready) {
        leaf->yields -= 1;
        leaf->woken = true;
        leaf->yielding = true;
        /* If a select ends without it, the task is polled without a woken leaf. */
        node->tree->all |= node->tree->selects;
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

/* A tree that is dropped as a whole is dropped in the order of its parts. */
static inline void
tree_leaf_drop(struct rt_future *future)
{
    struct node *node = tree_leaf_of(future);
    fuzz_check(!node->as.leaf.finished && !node->as.leaf.dropped);
    node->as.leaf.dropped = true;
    node->tree->all |= node->as.leaf.woken; /* It woke the task, and cannot be polled. */
    (void)rt_slot_clear(&node->as.leaf.slot);
    if (node->tree->sweeping) {
        fuzz_check(node->number > node->tree->last_dropped);
        node->tree->last_dropped = node->number;
    }
}

static inline void
tree_leaf_init(struct node *node, struct fuzz_tape *tape)
{
    uint32_t traits = fuzz_byte(tape);
    struct leaf *leaf = &node->as.leaf;
    *leaf = (struct leaf){.err = traits % 4 == 3 ? RT_E_CLOSED : RT_OK,
            .yields = (uint8_t)(traits / 4 % 3),
            .scoped = (traits & 64) != 0,
            .cancels = traits >= 248};
    rt_future_init(&leaf->future, tree_leaf_poll, tree_leaf_drop, "leaf");
    rt_slot_init(&leaf->slot);
    rt_defer_init(&leaf->defer, tree_clean_up);
    node->future = &leaf->future;
}

/* Makes it ready, or only wakes it. Returns whether a task was to be woken. */
static inline bool
tree_leaf_wake(struct node *node, bool ready)
{
    struct leaf *leaf = &node->as.leaf;
    if (leaf->finished || leaf->dropped) {
        return false;
    }
    leaf->ready |= ready;
    leaf->woken = true;
    return rt_slot_wake(&leaf->slot);
}

/* ---- Groups. ------------------------------------------------------------------------------- */

static inline rt_poll
tree_gather(struct rt_future *future, struct rt_cx *cx)
{
    struct node *node = rt_container_of(future, struct node, as.gathering.future);
    struct gathering *gathering = &node->as.gathering;
    for (;;) {
        void *item = 0;
        struct rt_key key;
        RT_AWAIT(rt_group_poll(&gathering->group, cx, &key, &item));
        if (item == 0) {
            fuzz_check(rt_group_size(&gathering->group) == 0);
            gathering->empty = true;
            rt_group_drop(&gathering->group);
            return RT_READY;
        }
        fuzz_check(((struct rt_future *)item)->finished);
        gathering->items += 1;
        /* The next poll may take one that has woken the task, whose own poll then finds none. */
        node->tree->all = true;
    }
}

static inline void
tree_disperse(struct rt_future *future)
{
    rt_group_drop(&rt_container_of(future, struct gathering, future)->group);
}

static inline void
tree_gathering_init(struct node *node)
{
    struct gathering *gathering = &node->as.gathering;
    gathering->items = 0;
    gathering->empty = false;
    rt_future_init(&gathering->future, tree_gather, tree_disperse, "gathering");
    rt_group_init(&gathering->group, gathering->entries, PARTS);
    for (uint32_t i = 0; i < node->count; i++) {
        struct rt_key key;
        rt_once_init(&gathering->once[i], node->parts[i]->future);
        fuzz_check(rt_group_insert(&gathering->group, &gathering->members[i],
                           &gathering->once[i].stream, &key) == RT_OK);
    }
}

/* ---- The tree. ----------------------------------------------------------------------------- */

/* Over existing parts: their futures are the children's. */
static inline struct rt_future *
tree_combine(struct node *node, struct fuzz_tape *tape)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct node *part = node->parts[i];
        node->children[i] = (struct rt_child){.future = part->future};
        node->errors[i] = part->kind == LEAF ? &part->as.leaf.err : 0;
    }
    switch (node->kind) {
    case JOIN:
        rt_join_init(&node->as.join, node->children, node->count);
        return &node->as.join.future;
    case RACE:
        fuzz_check(rt_race_init(&node->as.race, node->children, node->count) == RT_OK);
        return &node->as.race.future;
    case SELECT:
        fuzz_check(rt_select_init(&node->as.select, node->children, node->count) == RT_OK);
        return &node->as.select.future;
    case TRY_JOIN:
        rt_try_join_init(&node->as.try_join, node->children, node->errors, node->count);
        return &node->as.try_join.future;
    case TIMEOUT:
        rt_timeout_init(&node->as.timeout, node->parts[0]->future, fuzz_below(tape, 8));
        return &node->as.timeout.future;
    case GROUP:
    case LEAF:
        tree_gathering_init(node);
        return &node->as.gathering.future;
    }
    return 0;
}

/* How many parts a node of this kind has: the empty join and group are joins and groups. */
static inline uint32_t
tree_parts(enum node_kind kind, struct fuzz_tape *tape)
{
    switch (kind) {
    case LEAF:
        return 0;
    case TIMEOUT:
        return 1;
    case RACE:
    case SELECT:
        return 1 + fuzz_below(tape, PARTS);
    case JOIN:
    case TRY_JOIN:
    case GROUP:
        return fuzz_below(tape, PARTS + 1);
    }
    return 0;
}

static inline struct node *
tree_grow(struct tree *tree, uint32_t depth, struct fuzz_tape *tape)
{
    struct node *node = &tree->nodes[tree->count];
    uint32_t drawn = fuzz_below(tape, 10);
    node->kind = drawn <= GROUP && depth < DEPTH ? (enum node_kind)drawn : LEAF;
    node->tree = tree;
    node->number = ++tree->count;
    node->count = 0;
    uint32_t count = tree_parts(node->kind, tape);
    /* A node that needs a part and finds no space is a leaf. */
    if (count > 0 && tree->count == NODES) {
        node->kind = LEAF;
        count = 0;
    }
    while (node->count < count && tree->count < NODES) {
        struct node *part = tree_grow(tree, depth + 1, tape);
        node->parts[node->count++] = part;
    }
    tree->selects |= node->kind == SELECT;
    if (node->kind == LEAF) {
        tree_leaf_init(node, tape);
    } else {
        node->future = tree_combine(node, tape);
    }
    return node;
}

static inline void
tree_init(struct tree *tree, void (*cancel)(struct tree *tree), struct fuzz_tape *tape)
{
    tree->count = 0;
    tree->deferred = 0;
    tree->run_below = UINT32_MAX;
    tree->on_stack = 0;
    tree->last_dropped = 0;
    tree->sweeping = false;
    tree->all = false;
    tree->selects = false;
    tree->cancel = cancel;
    rt_scope_init(&tree->scope);
    (void)tree_grow(tree, 0, tape);
}

/* Drops all of it, including clean-ups: then nothing of it is registered. */
static inline void
tree_fini(struct tree *tree)
{
    tree->sweeping = true;
    tree->last_dropped = 0;
    rt_future_drop(tree->nodes[0].future);
    tree->sweeping = false;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct node *node = &tree->nodes[i];
        if (node->kind == SELECT) {
            rt_select_drop(&node->as.select); /* What it has not selected is its owner's. */
        }
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        fuzz_check(node->kind != LEAF || node->as.leaf.finished || node->as.leaf.dropped);
        fuzz_check(node->kind != LEAF || rt_slot_empty(&node->as.leaf.slot));
    }
    rt_scope_end(&tree->scope);
    fuzz_check(tree->on_stack == 0);
}

/* Once all are blocked, no part was passed over (J1), and each waiting one can be woken. */
static inline void
tree_check_asleep(const struct tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct leaf *leaf = &tree->nodes[i].as.leaf;
        if (tree->nodes[i].kind != LEAF || leaf->finished || leaf->dropped) {
            continue;
        }
        fuzz_check(leaf->polled);
        fuzz_check(tree->selects || !rt_slot_empty(&leaf->slot));
    }
}

/* ---- The semantics of a tree. -------------------------------------------------------------- */

static inline bool tree_due(const struct node *node, uint64_t now);

static inline uint32_t
tree_count_due(const struct node *node, uint64_t now)
{
    uint32_t due = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        due += tree_due(node->parts[i], now);
    }
    return due;
}

/* Whether a part that may fail has: only leaves do. */
static inline bool
tree_failed(const struct node *part)
{
    return part->kind == LEAF && part->as.leaf.err != RT_OK;
}

/* Whether `node` must be READY at `now`, when all woken parts have been polled. */
static inline bool
tree_due(const struct node *node, uint64_t now)
{
    switch (node->kind) {
    case LEAF:
        return node->as.leaf.ready;
    case RACE:
    case SELECT:
        return tree_count_due(node, now) > 0;
    case TRY_JOIN:
        for (uint32_t i = 0; i < node->count; i++) {
            if (tree_failed(node->parts[i]) && tree_due(node->parts[i], now)) {
                return true;
            }
        }
        return tree_count_due(node, now) == node->count;
    case TIMEOUT: {
        const struct rt_sleep *sleep = &node->as.timeout.sleep;
        return tree_due(node->parts[0], now) || (sleep->has_deadline && now >= sleep->deadline_ns);
    }
    case JOIN:
    case GROUP:
        return tree_count_due(node, now) == node->count;
    }
    return false;
}

/* Whether it would have returned READY, had it been polled. */
static inline bool
tree_leaf_would_be_ready(const struct node *node)
{
    const struct leaf *leaf = &node->as.leaf;
    return node->kind == LEAF && leaf->ready && leaf->yields == 0 && !leaf->yielding;
}

static inline bool tree_done(const struct node *node, uint64_t now);

static inline uint32_t
tree_count_done(const struct node *node, uint64_t now)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        done += tree_done(node->parts[i], now);
    }
    return done;
}

static inline bool
tree_select_done(const struct node *node, uint64_t now)
{
    const struct rt_select *select = &node->as.select;
    fuzz_check(select->ready > 0);
    uint32_t ready = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        ready += rt_select_has(select, i);
        fuzz_check(!rt_select_has(select, i) || tree_done(node->parts[i], now));
    }
    return ready == select->ready;
}

/* The first failure in the order of the parts, as those before it have not failed by then. */
static inline bool
tree_try_join_done(const struct node *node, uint64_t now)
{
    const struct rt_try_join *join = &node->as.try_join;
    if (join->err == RT_OK) {
        for (uint32_t i = 0; i < node->count; i++) {
            fuzz_check(!tree_failed(node->parts[i]));
        }
        return tree_count_done(node, now) == node->count;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node *part = node->parts[i];
        bool finished = part->kind == LEAF && part->as.leaf.finished;
        fuzz_check((finished && tree_failed(part)) == (i == join->failed));
    }
    return node->parts[join->failed]->as.leaf.err == join->err;
}

/* Whether a part that returned READY was right, by the results of its own parts. */
static inline bool
tree_done(const struct node *node, uint64_t now)
{
    switch (node->kind) {
    case LEAF:
        return node->as.leaf.finished;
    case JOIN:
        return tree_count_done(node, now) == node->count;
    case RACE:
        return tree_done(node->parts[node->as.race.winner], now);
    case SELECT:
        return tree_select_done(node, now);
    case TRY_JOIN:
        return tree_try_join_done(node, now);
    case TIMEOUT:
        if (!node->as.timeout.expired) {
            return tree_done(node->parts[0], now);
        }
        fuzz_check(!tree_leaf_would_be_ready(node->parts[0])); /* READY first (J12). */
        return now >= node->as.timeout.sleep.deadline_ns;
    case GROUP:
        return node->as.gathering.empty && node->as.gathering.items == node->count &&
               tree_count_done(node, now) == node->count;
    }
    return false;
}

FUZZ_UNSEEN_END

#endif
