/*
 * wake_outcome.h -- what became of the waker of a blocked task.
 *
 * A task is blocked although it could make progress. So somewhere between the store of its
 * waker and the step that should have woken it, the wake went missing; there are
 * only so many ways, and the ledger says which it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/record/outcome.h"
#include "sim/explain/ledger.h"

#define SIM_WAKE_OUTCOME_LIST(X) \
    X(UNKNOWN, "unknown", "the record does not say") \
    X(NEVER_STORED, "never-stored", "its last poll left no waker anywhere") \
    X(NEVER_FIRED, "never-fired", "its waker is still there, and was never fired") \
    X(TOO_EARLY, "too-early", "what it waits for had happened before its waker was stored") \
    X(REPLACED, "replaced", "another waker replaced its own") \
    X(ERASED, "erased", "the slot of its waker was emptied without a wake") \
    X(DROPPED, "dropped", "the clone of its waker was dropped without a wake") \
    X(FIRED_OTHER, "fired-other", "the wake went to another task") \
    X(FIRED_DEAD, "fired-dead", "its waker was fired, but belonged to a task that is gone") \
    X(STOPPED, "stopped", "a combinator took the wake and passed nothing on") \
    X(NOT_PASSED_ON, "not-passed-on", "the host reported it, and the waker was not fired") \
    X(NOT_POLLED, "not-polled", "it was woken, and never polled again")

enum sim_wake_outcome_kind {
#define SIM_WAKE_OUTCOME_ENUM(name, text, meaning) SIM_WAKE_OUTCOME_##name,
    SIM_WAKE_OUTCOME_LIST(SIM_WAKE_OUTCOME_ENUM)
#undef SIM_WAKE_OUTCOME_ENUM
            SIM_WAKE_OUTCOMES
};

struct sim_wake_outcome {
    uint32_t kind;                /* enum sim_wake_outcome_kind */
    uint32_t part;                /* Who is blocked; SIM_PART_NONE: not known. */
    const struct sim_wait *wait;  /* Whose waker it is about; NULL: none. */
    const struct sim_wait *other; /* FIRED_OTHER: the wait that was fired; NEVER_FIRED: the one
                                     whose place the step fired; NULL: not known. */
    uint64_t instead;             /* NEVER_FIRED: what that step fired instead; SIM_EVENT_NONE. */
    uint64_t poll;                /* POLL (or STEP) of its last turn; SIM_EVENT_NONE. */
    uint64_t polled;              /* The last event of that turn. */
    uint64_t owed;                /* The first event of the step that should have woken it. */
    uint64_t root_cause;          /* The event in which the wake went missing; SIM_EVENT_NONE. */
    uint64_t horizon;             /* The first event that came after the failure. */
    bool overdue;                 /* NEVER_FIRED: `wait` is for a timer whose time had come. */
};

/* What stands in a picture of the run at the step where the wake went missing. */
enum sim_missing_kind {
    SIM_MISSING_NONE,   /* No blocked task is known, or no step. */
    SIM_MISSING_OWED,   /* Another actor's step should have woken it. */
    SIM_MISSING_ITSELF, /* Its own step: what it waits for was there when it blocked. */
    SIM_MISSING_DROPPED /* The wake was sent, and lost between there and the poll. */
};

struct sim_missing {
    enum sim_missing_kind kind;
    uint32_t part;  /* Who is blocked. */
    uint64_t step;  /* Under which it stands. */
    uint64_t woken; /* DROPPED: the step that sent the wake; at most `step`. */
    bool itself;    /* DROPPED: it was the blocked task who sent it. */
    bool late;      /* DROPPED: a poll came in the end. */
};

/* Finds it for outcome->actor, from the record alone. */
void sim_missing_find(const struct sim_actor_table *actor_table, const struct sim_outcome *outcome,
        struct sim_missing *ret_missing);

/* Adds "here `client` should have been woken", without quotes, or what else it is. */
void sim_missing_put(const struct sim_actor_table *actor_table, struct sim_page *page,
        const struct sim_missing *missing);

/* Finds what became of the waker of outcome->actor. */
void sim_wake_outcome_find(const struct sim_ledger *ledger, const struct sim_outcome *outcome,
        struct sim_wake_outcome *ret_wake_outcome);

/* The last wait in the place `object` that had ended before `event`, or NULL. */
const struct sim_wait *sim_wake_outcome_last_in(
        const struct sim_ledger *ledger, uint32_t object, uint64_t event);

/* "replaced" …; static; "?" for a number that is none. */
const char *sim_wake_outcome_name(uint32_t wake_outcome);
