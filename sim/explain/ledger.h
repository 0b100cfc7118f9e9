/*
 * ledger.h -- the life of every wait, computed from events.
 *
 * A wait is one waker in one place: the n-th of the one who sleeps, for one object,
 * stored by one line.
 *
 *      store ─▶ open ── keep ──▶ open             the same task stored again
 *                │
 *                ├── fire ──▶ fired               what came of it: the wake that followed
 *                ├── replace ▶ replaced           another waker took the place
 *                ├── erase ──▶ erased             emptied without a wake
 *                ├── erase, with its task ──▶ ended
 *                └── free ───▶ freed              the memory of the place was given back
 *
 * Two more things are waits of their own kind: a waker that was cloned and is kept
 * by its holder (clone, until a wake without a place, or a drop), and what the host
 * was asked for (wait, until unwait, or report). A lock of the program's own is one too (wanted,
 * until granted).
 *
 * The waker in a place need not be the blocked task's own: a join stores one for its
 * child. Whose it is (`whose`) is an object; who sleeps is the part whose poll it
 * was.
 *
 * Ownership. A ledger owns its table (malloc) and borrows the actor table; reasons are
 * borrowed from the recorder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/view/actor_table.h"

enum sim_wait_kind {
    SIM_WAIT_SLOT,  /* In a place of the runtime: a slot, a queue, a timer. */
    SIM_WAIT_CLONE, /* A clone that a holder keeps. */
    SIM_WAIT_HOST,  /* A question to the host. */
    SIM_WAIT_LOCK   /* A lock or permit of the program's own. */
};

#define SIM_WAIT_END_LIST(X) \
    X(OPEN, "open", "it is still there") \
    X(FIRED, "fired", "the slot was emptied and the waker woken") \
    X(REPLACED, "replaced", "another waker replaced it") \
    X(ERASED, "erased", "the slot was emptied without a wake") \
    X(ENDED, "ended", "its task ended") \
    X(DROPPED, "dropped", "the clone was dropped without a wake") \
    X(REPORTED, "reported", "the host reported it") \
    X(TAKEN_BACK, "taken-back", "the question to the host was taken back") \
    X(FREED, "freed", "the slot was freed with the waker in it") \
    X(GRANTED, "granted", "it was given what it waits for")

enum sim_wait_end {
#define SIM_WAIT_END_ENUM(name, text, meaning) SIM_WAIT_##name,
    SIM_WAIT_END_LIST(SIM_WAIT_END_ENUM)
#undef SIM_WAIT_END_ENUM
            SIM_WAIT_ENDS
};

/* What came of a fired waker. */
#define SIM_WAKE_LIST(X) \
    X(NONE, "none", "nothing on record") \
    X(QUEUED, "queued", "the task was blocked and is queued") \
    X(COALESCED, "coalesced", "the task was queued already") \
    X(POLLING, "polling", "it came during the task's own poll") \
    X(CHILD, "child", "a combinator took it for one of its children") \
    X(DEAD, "dead", "the task that it would wake has finished")

enum sim_wake {
#define SIM_WAKE_ENUM(name, text, meaning) SIM_WAKE_##name,
    SIM_WAKE_LIST(SIM_WAKE_ENUM)
#undef SIM_WAKE_ENUM
            SIM_WAKES
};

struct sim_wait {
    uint64_t store_event;
    uint64_t keep_event; /* The last; SIM_EVENT_NONE: never kept. */
    uint64_t end_event;  /* SIM_EVENT_NONE while open. */
    const char *reason;  /* NULL: none said. */
    uint32_t part;       /* Who sleeps. */
    uint32_t number;     /* The n-th wait of that one, from 1. */
    uint32_t object;     /* What is waited for; 0: a clone, not known for what. */
    uint32_t whose;      /* Whose waker; 0: not known. */
    uint32_t site;
    uint32_t await;
    uint32_t kept; /* How often. */
    uint32_t store_step;
    uint32_t end_step;
    uint32_t ender;  /* The part in whose step it ended. */
    uint8_t kind;    /* enum sim_wait_kind */
    uint8_t end;     /* enum sim_wait_end */
    uint8_t wake;    /* enum sim_wake, when fired. */
    uint8_t unknown; /* The store was not recorded: the ring has lost it. */
};

struct sim_ledger {
    const struct sim_actor_table *actor_table;
    struct sim_wait *waits; /* In order of their stores. */
    uint32_t count;
    uint32_t capacity;
};

/* Computes the ledger. */
void sim_ledger_make(struct sim_ledger *ledger, const struct sim_actor_table *actor_table);
void sim_ledger_free(struct sim_ledger *ledger);

/* The first wait of `part` after `after` (NULL: from the start) that is open when the record ends,
 * or NULL: a loop over what an actor waits for. */
const struct sim_wait *sim_ledger_open_of(
        const struct sim_ledger *ledger, uint32_t part, const struct sim_wait *after);

/* Adds the table: who, n-th, for what, stored where and when, ended how and when; at most 100
 * columns wide, and what is cut ends in "...". `part`: only that one's; SIM_PART_NONE: of all.
 * Waits that repeat are folded, as steps are (explain/view/fold.h), and of lines that have ended
 * only the last `rows_max` are shown; 0: all, and nothing is folded. */
void sim_ledger_put(
        const struct sim_ledger *ledger, struct sim_page *page, uint32_t part, uint32_t rows_max);

/* "open", "fired" …; static; "?" for a number that is none. */
const char *sim_wait_end_name(uint32_t end);
const char *sim_wake_name(uint32_t wake);
const char *sim_wake_meaning(uint32_t wake);
