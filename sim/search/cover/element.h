/*
 * element.h -- coverage points: something that a run can have covered.
 *
 * A point is a kind and one or two sites. Sites are the user's lines where they are known (of the
 * await, the store, the wake), else the runtime's. A point is the same in every run, on every
 * machine and in every build of the same source.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

/* Name, and a sentence. The numbers are in databases: append only. */
#define SIM_ELEMENT_LIST(X) \
    X(WAKE_CAUSE, "wake-cause", \
            "a wake at the first line led to the poll that continues at the second") \
    X(STORED, "stored", "a waker was stored") \
    X(FIRED, "fired", "a waker stored at the one place was fired at the other") \
    X(REPLACED, "replaced", \
            "a waker stored at the one place was replaced by another's at the other") \
    X(ERASED, "erased", "a waker stored at the one place was erased, not woken, at the other") \
    X(FIRED_EMPTY, "fired-empty", "a wake found no waiter registered") \
    X(TOO_EARLY, "too-early", \
            "a wake found no waiter registered, and a task registered one after it") \
    X(COALESCED, "coalesced", "a wake of a task that was woken already") \
    X(WAKE_DEAD, "wake-dead", "a wake of a task that has finished") \
    X(SPURIOUS, "spurious", "a wake or a report for nothing") \
    X(EVENT_FIRST, "event-first", "what a task waited for arrived before its timer") \
    X(TIMER_FIRST, "timer-first", "the timer of a task expired before what it waited for arrived") \
    X(BLOCKED_BLOCKING, "blocked-blocking", \
            "one waited at the one place while who was to wake it waited at the other") \
    X(READS_FROM, "reads-from", "a cell set by one task was read by another") \
    X(GOAL, "goal", "SIM_SOMETIMES or SIM_REACHABLE was reached") \
    X(ALWAYS, "always", "SIM_ALWAYS was reached")

enum sim_element_kind {
    SIM_ELEMENT_NONE,
#define SIM_ELEMENT_ENUM(name, text, meaning) SIM_ELEMENT_##name,
    SIM_ELEMENT_LIST(SIM_ELEMENT_ENUM)
#undef SIM_ELEMENT_ENUM
            SIM_ELEMENT_KINDS
};

struct sim_element {
    uint32_t kind;
    uint32_t first;  /* A site. */
    uint32_t second; /* A site; 0: the kind has one only, or it is not known. */
};

/* "wake-cause" …; static; "?" for a number that is none. */
const char *sim_element_name(uint32_t kind);
const char *sim_element_meaning(uint32_t kind);

/* 64 bits that identify the point, never 0; two points share them once in 2^64. */
static inline uint64_t
sim_element_id(const struct sim_element *element)
{
    uint64_t id = ((uint64_t)element->first << 32 | element->second) ^
                  element->kind * UINT64_C(0xd6e8feb86659fd93);
    id = (id ^ id >> 32) * UINT64_C(0xd6e8feb86659fd93);
    id = (id ^ id >> 32) * UINT64_C(0xd6e8feb86659fd93);
    id ^= id >> 32;
    return id != 0 ? id : 1;
}
