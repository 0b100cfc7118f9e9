/*
 * waste.h -- what a run did for nothing, counted by place, from its events when it is over.
 *
 *      waste: zeroed memory of the caller
 *      sim_waste_count(waste, &world->recorder);
 *
 * Waste is no bug: the run may pass. But a bug may have no other symptom than a waker that is kept
 * too long, or a loop that turns and turns. One pass over the ring; nothing is allocated.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

#include "sim/core/record/recorder.h"

/* Name, one, several, and a sentence. The names are in databases: append only. */
#define SIM_WASTE_LIST(X) \
    X(DEAD_WAKE, "dead-wake", "wake of a finished task", "wakes of finished tasks", \
            "a task was woken after its end") \
    X(STALE_WAKE, "stale-wake", "wake by a stale waker", "wakes by stale wakers", \
            "a task was woken by a waker of an earlier poll, which its last poll did not store") \
    X(PILED_WAKER, "piled-waker", "waker piled up", "wakers piled up", \
            "a waker was stored by a task with more than 8 others that its last poll did not " \
            "store") \
    X(IDLE_TURN, "idle-turn", "idle turn of a loop", "idle turns of loops", \
            "a loop asked its host and did nothing until it asked again") \
    X(OWN_TIMEOUT, "own-timeout", "wait ended by its own time-out only", \
            "waits ended by their own time-outs only", \
            "a wait ended by its own time-out, although it could have made the same progress " \
            "before")

enum sim_waste_kind {
#define SIM_WASTE_ENUM(name, text, one, several, meaning) SIM_WASTE_##name,
    SIM_WASTE_LIST(SIM_WASTE_ENUM)
#undef SIM_WASTE_ENUM
            SIM_WASTE_KINDS
};

#define SIM_WASTE_PLACES 64u    /* Kinds and places of one run; more count at place 0. */
#define SIM_WASTE_OBJECTS 1024u /* A power of two; of further slots and tasks nothing is known. */

struct sim_wasted {
    uint32_t kind;
    uint32_t site; /* Where the waker was stored, else of the wake; of the turn, of the wait; 0: not
                    * known. */
    uint32_t times;
    uint32_t first_step;
};

/* What is known of a slot or a task of the run. */
struct sim_waste_object {
    uint64_t key;   /* Its number, and above it the stamp of the run. */
    uint32_t owner; /* Slot: whose waker it holds; 0: none. */
    uint32_t site;  /* Slot: where it was stored. */
    uint32_t poll;  /* Slot: of its owner, when the waker was stored or kept. Task: so many. */
    uint32_t held;  /* Task: its wakers in slots … */
    uint32_t fresh; /* … and those that the current poll has stored or kept. */
};

/* Zeroed once by the caller. */
struct sim_waste {
    uint32_t stamp; /* Of the run; 0: none yet. */
    uint32_t used;  /* Of `objects`. */
    uint32_t count;
    uint64_t total; /* Of all times. */
    struct sim_wasted places[SIM_WASTE_PLACES];
    struct sim_waste_object objects[SIM_WASTE_OBJECTS];
};

/* Counts the run in `recorder`, which is over and was recorded with events; what the ring has lost
 * does not count. Replaces the counts of the run before. */
void sim_waste_count(struct sim_waste *waste, const struct sim_recorder *recorder);

/* Adds what the judge has found, in a run that was counted: world->timeouts. */
void sim_waste_add(struct sim_waste *waste, enum sim_waste_kind kind, uint32_t site, uint32_t step);

/* "dead-wake" …; static. */
const char *sim_waste_name(uint32_t kind);

/* "wake of a finished task", or of several; static. */
const char *sim_waste_noun(uint32_t kind, uint64_t times);
