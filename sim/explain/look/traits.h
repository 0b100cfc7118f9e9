/*
 * traits.h -- what a run does, as a set of traits that can be looked for in other runs.
 *
 * A trait is an instruction of the reader's code and what is special about this execution of it:
 *
 *      branch       a condition, and which way it goes
 *      read         a read, and which instruction wrote what it reads
 *      overwritten  a write, and which instruction wrote what was there
 *      stale        a write or a call by an actor that has read something, which another has
 *                   changed since: all three instructions
 *      unread       a write whose value an actor that reads this memory never reads: the write,
 *                   and its last read
 *      outdated     a use of something that was made of a read, by an actor that has not seen that
 *                   it was changed since: all three instructions; so are
 *      asked again  a use of an answer to what its actor has asked again since,
 *      reused       a use of a reference to what has been filled again since,
 *      merged       a signal, or a notification, that is one with the one before
 *      overtakes    an operation that ends before one that was begun before it, on that descriptor
 *      not          an operation that succeeds although it was asked to be cancelled before
 *      cancelled
 *      lost         a write over what another has written, by an actor that has read what was there
 *                   before that, and not since: all three instructions
 *      while        a condition, a write or a call, and the last instruction of another actor
 *
 * The first three count by themselves, and with the line that called the function. Which actor it
 * is, when, and which memory does not matter, so that the same mistake of another actor is the same
 * trait. Variables of a function that are its own are left out.
 *
 * After Shi et al., "Do I use the wrong definition?" (OOPSLA 2010), Park et al., "Falcon" (ICSE
 * 2010), and Chilimbi et al., "HOLMES" (ICSE 2009), which counts paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/executed.h"
#include "sim/explain/view/actor_table.h"

enum sim_trait_kind {
    SIM_TRAIT_BRANCH,
    SIM_TRAIT_READ,
    SIM_TRAIT_OVERWRITTEN,
    SIM_TRAIT_STALE,
    SIM_TRAIT_UNREAD,
    SIM_TRAIT_WHILE,
    SIM_TRAIT_LOST,
    /* As enum sim_use has them. */
    SIM_TRAIT_OUTDATED,
    SIM_TRAIT_ASKED_AGAIN,
    SIM_TRAIT_REUSED,
    /* Of events. */
    SIM_TRAIT_MERGED,
    SIM_TRAIT_OVERTAKES,
    SIM_TRAIT_NOT_CANCELLED,
    SIM_TRAIT_KINDS
};

struct sim_trait {
    uint64_t key;   /* The same in all runs of this process. */
    uint32_t kind;  /* enum sim_trait_kind */
    uint32_t first; /* The instruction that has it first. */
    /* The one that wrote; UNREAD: that read last; WHILE: the other actor's; UINT32_MAX: none. */
    uint32_t other;
    uint32_t third; /* STALE, LOST, OUTDATED: the one that read; of uses.h, `read`. */
    bool called;    /* With the line that called its function. */
};

#define SIM_TRAITS_MAX 131072u

struct sim_traits {
    struct sim_trait all[SIM_TRAITS_MAX]; /* By `first`, but UNREAD and of events, the last. */
    uint32_t count;
    uint32_t slots[2 * SIM_TRAITS_MAX]; /* A hash table: 1 and the index; 0: free. */
};

/* The traits of `executed`, whose record is in `actor_table` (NULL: there is none); what does not
 * fit is left out. */
void sim_traits_find(const struct sim_code *code, const struct sim_executed *executed,
        const struct sim_actor_table *actor_table, struct sim_traits *ret);

bool sim_traits_have(const struct sim_traits *traits, uint64_t key);
