/*
 * branches.h -- the conditions that a program decides, and a run in which one of them is decided
 * the other way.
 *
 * Where no wake is missing the program itself took a wrong turn: a condition that holds in the run
 * that passes and not here, or one that was decided on what is not so any more. Each conditional
 * jump of the reader's code is noted, in both runs. Then the failing run is made again, with one
 * execution of one jump taken the other way and nothing else; where that run passes, this
 * condition matters, and that was tried.
 *
 * Only few are tried, as a check decided against the facts may end a run early: those that the
 * passing run decides the other way the same time that its actor comes to them, the last first;
 * where none of them alone lets the run pass, those of one jump together. Then, where it is known
 * what should have been done, the conditions by which the passing run comes to it.
 * On other processors than x86-64 nothing is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/executed.h"

/* One execution of a conditional jump; or of a write, which is left out instead. */
struct sim_branch {
    uintptr_t pc;
    uint64_t step;
    uint32_t actor_id; /* Whose step it was: the stable id. */
    uint32_t nth;      /* Of this jump by this actor, from 1. */
    uint8_t length;    /* Of a write: its bytes; 0: a jump. */
    bool onward;       /* That one, and all by this actor that come after it. */
    bool ends; /* Where it goes the other way there, its actor executes nothing after that step. */
    bool taken;
};

struct sim_switched {
    bool found; /* With this branch taken the other way the run passes, … */
    bool reads; /* … or not, but the object that is asked for is read after it. */
    struct sim_branch branch;
    uint32_t times; /* So many of the wanted, this one and others of its jump, were switched. */
    struct sim_place place;
    uint32_t tried;
};

/* Those that are tried, in this order. */
#define SIM_BRANCHES_MAX 64u
struct sim_branches {
    bool may_end; /* A run in which the actor ends in that step, and not here, counts as well. */
    bool resumes; /* Only a run counts in which it blocks after that, and continues. */
    uint32_t count;
    uint32_t object; /* Not 0: only a run counts in which this is read after it, also one that
                      * does not pass. */
    struct sim_branch all[SIM_BRANCHES_MAX];
};

/* The `index`-th instruction, a jump, as one execution of it; and which one `branch` means, or its
 * like in another run: the same time of the same jump by the same actor. UINT32_MAX: it does not
 * come to it so often. */
struct sim_branch sim_branch_at(const struct sim_executed *executed, uint32_t index);
uint32_t sim_branch_index(const struct sim_executed *executed, const struct sim_branch *branch);

/* Of what the failing and the passing run execute, adds the executions of jumps by other actors
 * than `victim` that go the other way than the same execution there, the last first; */
void sim_branches_add_differing(const struct sim_executed *here, const struct sim_executed *there,
        uint32_t victim, struct sim_branches *branches);
/* … the jumps by which its actor comes to the `target`-th instruction there, the nearest first, as
 * far as they go the other way here. */
void sim_branches_add_leading(const struct sim_executed *here, const struct sim_executed *there,
        uint32_t target, struct sim_branches *branches);

/* … of each jump the last execution by that actor in these steps, the last first. */
void sim_branches_add_of(const struct sim_executed *executed, uint32_t actor_id, uint64_t from,
        uint64_t to, struct sim_branches *branches);

/* Makes the replays that it takes in separate processes. Not for a failure that only the judge
 * sees, as a wake that is late: a run is taken to pass that ends without a verdict of its own. */
void sim_branches_find(const struct sim_runs *runs, struct sim_places *places,
        struct sim_code *code, const struct sim_branches *branches, struct sim_switched *ret);
